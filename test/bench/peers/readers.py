"""The Python peers, one job a process; prints one JSON line {version, rows, seconds}.

readers.py cqlite DATA SCHEMA KEYSPACE.TABLE OUT.parquet ROW_GROUP COMPRESSION   CQLite's export_parquet, opening included
readers.py pyarrow IN.parquet      pyarrow reads a Parquet file with one thread; the second time, when its code is loaded
"""

import json
import sys
import time


def cqlite_export(data, schema, table, out, row_group, compression):
    import cqlite

    begun = time.perf_counter()
    with cqlite.open(data, schema=schema, config=cqlite.performance_optimized()) as db:
        rows = db.export_parquet(f"SELECT * FROM {table}", out, row_group_size=int(row_group), compression=compression)
    return cqlite.version(), rows, time.perf_counter() - begun


def pyarrow_read(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)

    def read():
        begun = time.perf_counter()
        rows = pq.read_table(path, use_threads=False).num_rows
        return rows, time.perf_counter() - begun

    read()
    return pa.__version__, *read()


job = {"cqlite": cqlite_export, "pyarrow": pyarrow_read}[sys.argv[1]]
version, rows, seconds = job(*sys.argv[2:])
print(json.dumps({"version": version, "rows": rows, "seconds": seconds}))
