"""Writes the rows of Parquet files as JSON, a list of rows a line, as READER reads them. Numbers with a
point are written as the bits of a double, times as microseconds.

usage: python3 reader.py pyarrow|duckdb|polars FILE...
"""
import datetime, json, struct, sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MICROSECOND = datetime.timedelta(microseconds=1)


def columns(name):
    if reader == 'pyarrow':
        import pyarrow.parquet
        return [c.to_pylist() for c in pyarrow.parquet.read_table(name).columns]
    if reader == 'polars':
        import polars
        return [c.to_list() for c in polars.read_parquet(name, glob=False, hive_partitioning=False)]
    import duckdb
    table = duckdb.read_parquet(name)
    times = [c for c, t in zip(table.columns, table.types) if str(t).startswith('TIMESTAMP')]
    replace = ', '.join('epoch_us(%s) as %s' % (c, c) for c in times)
    return zip(*table.project('* replace (%s)' % replace if times else '*').fetchall())


def written(column):
    """The values of a column as they are written."""
    kinds = {type(v) for v in column}
    if float in kinds:
        return [v if v is None else struct.pack('>d', v).hex() for v in column]
    if datetime.datetime in kinds:
        return [v if v is None else (v - EPOCH) // MICROSECOND for v in column]
    return column


reader, names = sys.argv[1], sys.argv[2:]
encode = json.JSONEncoder(ensure_ascii=False, separators=(',', ':')).encode
for name in names:
    print(encode(list(zip(*map(written, columns(name))))))
