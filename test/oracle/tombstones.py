#!/usr/bin/env python3
"""Random histories, and what a major compaction leaves of them: the deletions that are in force.

  tombstones.py --version 5.0.8 --format da --seed 1 --histories 8 --ops 300 --out OUT --work DIR [--port 9142]

OUT/before/ and OUT/after/ hold the data directories around the compaction, OUT/sstabledump/TABLE.json what sstabledump prints of
TABLE after it, OUT/meta.json the moment. No table purges anything. tombstones.ts compares. Needs what histories.py needs.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import time

from histories import play_all, with_node
from random_cql import KEYSPACE, generate

HERE = pathlib.Path(__file__).resolve().parent


def keep(node, to):
    for ks in (KEYSPACE, 'system_schema'):
        shutil.copytree(node.dir / 'data' / ks, to / ks)


def record(node, db, histories, out):
    shutil.rmtree(out, ignore_errors=True)
    (out / 'sstabledump').mkdir(parents=True)
    db.session.execute(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    play_all(node, db, histories)
    time.sleep(2.5)  # what was written with TTL 1 has expired
    node.nodetool('flush', '--', 'system_schema')
    keep(node, out / 'before')
    node.nodetool('compact', '--', KEYSPACE)
    time.sleep(10)  # the files that went into it are deleted later
    keep(node, out / 'after')
    for history in histories:
        files = list((out / 'after' / KEYSPACE).glob(f"{history['name']}-*/*-Data.db"))
        assert len(files) <= 1, files
        for file in files:
            dump = subprocess.run([HERE / 'cassandra.sh', 'sstabledump', node.dir, '-t', file], capture_output=True, check=False)
            if dump.returncode == 0:
                (out / 'sstabledump' / f"{history['name']}.json").write_bytes(dump.stdout)
            else:
                print(f"sstabledump of {history['name']} failed: {dump.stderr.decode()[-300:]}")
    meta = dict(now=int(time.time()), keyspace=KEYSPACE, tables=[h['name'] for h in histories])
    (out / 'meta.json').write_text(json.dumps(meta, indent=1) + '\n', encoding='utf-8')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--version', required=True)
    p.add_argument('--format', required=True, choices=['da', 'oa', 'nb', 'me'])
    p.add_argument('--out', required=True, help='folder to fill; replaced when it exists')
    p.add_argument('--work', required=True, help="the node's folder; emptied first")
    p.add_argument('--port', type=int, default=9142)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--histories', type=int, default=8)
    p.add_argument('--ops', type=int, default=300)
    p.add_argument('--rounds', type=int, default=5)
    args = p.parse_args()
    major = int(args.version.split('.')[0])
    histories = [generate(f't{args.seed}x{i}', args.seed, args.format, major, args.ops, args.rounds) for i in range(args.histories)]
    for history in histories:
        steps = [s.replace(' AND gc_grace_seconds = 0', '') for s in history['steps']]
        # Before 5.0 compactions may fail over collections that were added later.
        history['steps'] = [s for s in steps if major >= 5 or not s.startswith('ALTER TABLE')]
    with_node(args, lambda node, db, out: record(node, db, histories, out))


if __name__ == '__main__':
    main()
