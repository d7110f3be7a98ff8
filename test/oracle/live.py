#!/usr/bin/env python3
"""Writes to a live node without a pause, and keeps of every write when it was issued and when it was acknowledged.

  live.py PORT OPS SECONDS_BETWEEN TABLE...

Creates nothing: each TABLE of keyspace live has (pk int, c int, v int, name text, tags map<int, int>, PRIMARY KEY (pk, c)). A key
n is pk = n % 499, c = n. Its writes are numbered 1, 2, 3... (v), one at a time: the next one is issued when the one before has
been acknowledged. A write sets all columns or deletes the row. OPS gets 32 bytes for each write that has ended, little-endian:

  u32 table, u32 kind (1 written, 2 deleted), u32 n, u32 v, u64 issued, u64 acknowledged (0: refused or timed out, it may have been done)

Times are nanoseconds of CLOCK_MONOTONIC, which other processes of this machine read too. Ends on SIGTERM, when all has been answered.
"""
import random
import signal
import struct
import sys
import threading
import time

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.policies import RoundRobinPolicy

IN_FLIGHT = 48
RECORD = struct.Struct('<IIIIQQ')
WRITTEN, DELETED = 1, 2
FILLER = 'live rows are written, flushed, compacted and exported all at the same time, over and over again; ' * 3


class Table:
    def __init__(self, session, number, name):
        self.number = number
        self.insert = session.prepare(f'INSERT INTO live.{name} (pk, c, v, name, tags) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?')
        self.delete = session.prepare(f'DELETE FROM live.{name} USING TIMESTAMP ? WHERE pk = ? AND c = ?')
        self.versions = []  # by key: number of the last write
        self.free = []  # keys without a write under way


def main():
    port, path, pause, *names = sys.argv[1:]
    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=60)
    cluster = Cluster(['127.0.0.1'], port=int(port), protocol_version=5, execution_profiles={EXEC_PROFILE_DEFAULT: profile}, connect_timeout=60)
    session = cluster.connect()
    tables = [Table(session, i, name) for i, name in enumerate(names)]
    rng = random.Random(1)
    lock = threading.Lock()
    places = threading.Semaphore(IN_FLIGHT)
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    stamp = int(time.time() * 1e6)
    failures = 0
    with open(path, 'wb') as ops:
        def ended(table, kind, n, v, issued, acknowledged):
            nonlocal failures
            with lock:
                ops.write(RECORD.pack(table.number, kind, n, v, issued, acknowledged))
                table.free.append(n)
                failures += acknowledged == 0
            places.release()

        print('writing', flush=True)
        while not stopped.is_set():
            places.acquire()
            table = rng.choice(tables)
            with lock:
                again = table.free and rng.random() < 0.45
                if again:
                    at = rng.randrange(len(table.free))
                    table.free[at], table.free[-1] = table.free[-1], table.free[at]
                    n = table.free.pop()
                else:
                    n = len(table.versions)
                    table.versions.append(0)
            table.versions[n] += 1
            v = table.versions[n]
            stamp += 1
            if again and rng.random() < 0.25:
                kind, bound = DELETED, table.delete.bind((stamp, n % 499, n))
            else:
                name = f'{table.number}:{n}:{v}:{FILLER[:n * v % 200]}'
                kind, bound = WRITTEN, table.insert.bind((n % 499, n, v, name, {v: n, -1: v}, stamp))
            issued = time.monotonic_ns()
            future = session.execute_async(bound)
            future.add_callbacks(
                lambda _, a=(table, kind, n, v, issued): ended(*a, time.monotonic_ns()),
                lambda _, a=(table, kind, n, v, issued): ended(*a, 0))
            if float(pause) > 0:
                time.sleep(float(pause))
        for _ in range(IN_FLIGHT):
            places.acquire()
    print(f'ended {sum(sum(t.versions) for t in tables)} writes, {failures} not acknowledged', flush=True)
    cluster.shutdown()


main()
