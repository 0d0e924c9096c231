"""Writes the rows of a Parquet file as JSON, one list a line, as READER reads them. Numbers with a point
are written as the bits of a double, times as microseconds.

usage: python3 reader.py pyarrow|duckdb FILE
"""
import datetime, json, struct, sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def value(v):
    if isinstance(v, float):
        return struct.pack('>d', v).hex()
    if isinstance(v, datetime.datetime):
        return (v - EPOCH) // datetime.timedelta(microseconds=1)
    return v


reader, name = sys.argv[1:]
if reader == 'pyarrow':
    import pyarrow.parquet
    rows = (r.values() for r in pyarrow.parquet.read_table(name).to_pylist())
else:
    import duckdb
    times = [c[0] for c in duckdb.sql("describe from '%s'" % name).fetchall() if c[1].startswith('TIMESTAMP')]
    replace = ', '.join('epoch_us(%s) as %s' % (c, c) for c in times)
    rows = duckdb.sql("select * replace (%s) from '%s'" % (replace, name)).fetchall()
for r in rows:
    print(json.dumps([value(v) for v in r], ensure_ascii=False))
