"""Runs one query in DuckDB: prints the milliseconds it took, those of processor time, and its first row."""
import os
import sys
import time

import duckdb

connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false; SELECT 1").fetchall()
used, start = os.times(), time.perf_counter()
row = connection.execute(sys.argv[1]).fetchone()
wall, now = time.perf_counter() - start, os.times()
print(wall * 1e3, (now.user + now.system - used.user - used.system) * 1e3, *(row or ()))
