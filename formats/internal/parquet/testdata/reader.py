"""Writes the rows of Parquet files as JSON, one list a line, as READER reads them. Numbers with a point
are written as the bits of a double, times as microseconds.

usage: python3 reader.py pyarrow|duckdb|polars FILE...
"""
import datetime, json, struct, sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def value(v):
    if isinstance(v, float):
        return struct.pack('>d', v).hex()
    if isinstance(v, datetime.datetime):
        return (v - EPOCH) // datetime.timedelta(microseconds=1)
    return v


def rows(name):
    if reader == 'pyarrow':
        import pyarrow.parquet
        return zip(*(c.to_pylist() for c in pyarrow.parquet.read_table(name).columns))
    if reader == 'polars':
        import polars
        return polars.read_parquet(name, glob=False, hive_partitioning=False).iter_rows()
    import duckdb
    table = duckdb.read_parquet(name)
    times = [c for c, t in zip(table.columns, table.types) if str(t).startswith('TIMESTAMP')]
    replace = ', '.join('epoch_us(%s) as %s' % (c, c) for c in times)
    return table.project('* replace (%s)' % replace if times else '*').fetchall()


reader, names = sys.argv[1], sys.argv[2:]
encode = json.JSONEncoder(ensure_ascii=False).encode
for name in names:
    for r in rows(name):
        print(encode([value(v) for v in r]))
