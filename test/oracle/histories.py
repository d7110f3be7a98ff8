#!/usr/bin/env python3
"""Random histories against a real Cassandra: what it has on disk after them, and what it answers.

  histories.py run --version 5.0.8 --format da --seed 1 --histories 10 --ops 500 --out OUT --work DIR [--port 9142]
  histories.py replay FILE... --version 5.0.8 --format da --out OUT --work DIR [--port 9142]
  histories.py shrink FILE --differs 'COMMAND' --version 5.0.8 --format da --out OUT --work DIR [--port 9142]

All histories of a run are played side by side on one node, a table each. OUT then holds, much as golden.py leaves it:
  data/hist/TABLE-ID/, data/system_schema/   the data directory after the last flush
  expected/hist.TABLE.ndjson, .tokens.csv, .raw.ndjson
  expected/hist.TABLE.queries.json           what the node answers to the history's queries, as indexes of those rows
  histories/TABLE.json                       the statements that the node took, with the flushes between: a FILE for replay
  meta.json                                  now, seed, and by table its rows and its columns' types; user-defined types

shrink looks for a small part of a history over which a reader still differs. COMMAND gets OUT as its last argument and prints
a line 'DIFFERS hist.TABLE ...' for every table read wrongly. Many parts are tried side by side; OUT keeps the smallest.
Needs the PyPI package cassandra-driver (venv.sh) and cassandra.sh beside this file.
"""
import argparse
import decimal
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

import golden
from random_cql import COMPACT, FLUSH, KEYSPACE, generate

EXACT = decimal.Context(prec=10_000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
CREATES = re.compile(r'CREATE (TABLE|TYPE) ')


def play_all(node, db, histories):
    """Plays them round by round; a round ends where each has its next flush. Returns the statements that were refused."""
    refused = {}
    streams = [(h, iter(h['steps']), []) for h in histories]
    done = set()
    while len(done) < len(streams):
        compact = []
        for h, steps, taken in streams:
            if h['name'] in done:
                continue
            for step in steps:
                if step in (FLUSH, COMPACT):
                    taken.append(step)
                    if step == COMPACT:
                        compact.append(h['name'])
                    break
                try:
                    db.session.execute(step)
                    taken.append(step)
                except Exception as e:  # an invalid request: it changes nothing, so the history is better off without it
                    refused.setdefault(h['name'], []).append(f'{type(e).__name__}: {e} in: {step}')
                    if CREATES.match(step):
                        raise
            else:
                done.add(h['name'])
        node.nodetool('flush', '--', KEYSPACE)
        if compact:
            try:
                node.nodetool('compact', '--', KEYSPACE, *compact)
            except subprocess.CalledProcessError:  # as 5.0 does where one SSTable knows a collection that another does not: then there is none
                print('no compaction of', *compact)
    for h, _, taken in streams:
        h['steps'] = taken
    return refused


def described(db):
    """Columns by table and fields by user-defined type, as the node's schema has them."""
    columns, types = {}, {}
    for table, column, kind in db.session.execute(f"SELECT table_name, column_name, type FROM system_schema.columns WHERE keyspace_name = '{KEYSPACE}'"):
        columns.setdefault(table, {})[column] = kind
    for name, fields, kinds in db.session.execute(f"SELECT type_name, field_names, field_types FROM system_schema.types WHERE keyspace_name = '{KEYSPACE}'"):
        types[name] = dict(zip(fields, kinds))
    return columns, types


def answered(db, history, whole):
    """What the node says to the queries, as indexes of the lines of `SELECT JSON *`, or of those of `SELECT JSON DISTINCT`."""
    from cassandra.query import SimpleStatement
    meta = db.cluster.metadata.keyspaces[KEYSPACE].tables[history['name']]
    columns = [c.name for c in meta.partition_key] + [n for n, c in meta.columns.items() if c.is_static]
    chosen = {False: '*', True: 'DISTINCT ' + ', '.join(map(golden.quote, columns))}

    def ask(distinct, where):
        text = f"SELECT JSON {chosen[distinct]} FROM {KEYSPACE}.{history['name']}"
        return [r[0] for r in db.session.execute(SimpleStatement(f'{text} WHERE {where} ALLOW FILTERING' if where else text, fetch_size=1000))]

    def same(row):  # of decimals that compare equal (1.5, 1.50) another one may be shown, depending on how a node comes to read them
        number = lambda text: EXACT.create_decimal(text).normalize(EXACT).to_eng_string()
        return json.dumps(json.loads(row, parse_float=number, parse_int=number))

    def indexes(lines, rows):
        places = {}
        for i, line in enumerate(lines):
            places.setdefault(same(line), []).append(i)
        # Lines can be equal where JSON tells no difference (NaN and Infinity are null): the same line twice is two of them.
        return [places[same(row)].pop(0) if places.get(same(row)) else -1 for row in rows]

    distinct = ask(True, '')
    answers, refused = [], 0
    for query in history.get('queries', []):
        try:
            rows = ask(query['distinct'], query['where'])
        except Exception:
            refused += 1
            continue
        answers.append(dict(query, rows=indexes(distinct if query['distinct'] else whole, rows)))
    return dict(columns=columns, distinct=distinct, answers=answers, refused=refused)


def record(node, db, histories, out, extra):
    """Plays into an empty keyspace and fills OUT. The node stays up: everything has been flushed."""
    shutil.rmtree(out, ignore_errors=True)
    (out / 'histories').mkdir(parents=True)
    db.session.execute(f'DROP KEYSPACE IF EXISTS {KEYSPACE}')
    db.session.execute(f"CREATE KEYSPACE {KEYSPACE} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    shutil.rmtree(node.dir / 'data' / KEYSPACE, ignore_errors=True)
    refused = play_all(node, db, histories)
    if any('TTL 1 ' in s + ' ' for h in histories for s in h['steps']):
        time.sleep(2.5)  # what was written with TTL 1 has expired
    now = int(time.time())
    counts, failed, differs = golden.expected(db, [KEYSPACE], out / 'expected', raw_limit=50_000_000)
    for h in histories:
        full = f"{KEYSPACE}.{h['name']}"
        if full in counts:
            whole = (out / 'expected' / f'{full}.ndjson').read_text(encoding='utf-8').split('\n')[:-1]
            (out / 'expected' / f'{full}.queries.json').write_text(json.dumps(answered(db, h, whole), ensure_ascii=False), encoding='utf-8')
    columns, types = described(db)
    node.nodetool('flush', '--', 'system_schema')
    for ks in (KEYSPACE, 'system_schema'):
        shutil.copytree(node.dir / 'data' / ks, out / 'data' / ks)
    for h in histories:
        (out / 'histories' / f"{h['name']}.json").write_text(json.dumps(h, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
    tables = {h['name']: dict(rows=counts.get(f"{KEYSPACE}.{h['name']}"), columns=columns[h['name']], statements=sum(s[0] != '#' for s in h['steps']),
                              refused=len(refused.get(h['name'], []))) for h in histories}
    meta = dict(cassandra=node.version, format=node.fmt, now=now, keyspace=KEYSPACE, **extra, tables=tables, types=types, failed=failed, count_star_differs=differs)
    (out / 'meta.json').write_text(json.dumps(meta, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
    (out / 'refused.txt').write_text(''.join(f'{n}: {r}\n' for n, rs in refused.items() for r in rs), encoding='utf-8')
    return meta


def with_node(args, work):
    """Starts a node in an empty folder; calls work(node, db, out); stops the node."""
    directory, out = pathlib.Path(args.work).resolve(), pathlib.Path(args.out).resolve()
    if (directory / 'pid').exists():
        sys.exit(f'a node may still run in {directory}: cassandra.sh stop it first')
    shutil.rmtree(directory, ignore_errors=True)
    node = golden.Node(args.version, args.format, directory, args.port)
    node.start()
    try:
        db = golden.Db(node, 1)
        try:
            return work(node, db, out)
        finally:
            db.cluster.shutdown()
    finally:
        node.stop()


def report(meta, out, begun):
    tables = meta['tables'].values()
    print(f"{out}: {meta['format']} by {meta['cassandra']}, {len(tables)} histories, {sum(t['statements'] for t in tables)} statements "
          f"({sum(t['refused'] for t in tables)} refused), {sum(t['rows'] or 0 for t in tables)} rows, {time.time() - begun:.0f} s")
    for name, why in meta['failed'].items():
        print(f'  no answer for {name}: {why}')


# ---------------------------------------------------------------- shrinking

def renamed(history, name, steps):
    """The same history over another table and other types."""
    old = re.compile(rf"\b{history['name']}(?=_t\d|\b)")
    return dict(history, name=name, steps=[old.sub(name, s) for s in steps])


def shrink(args, history):
    """Delta debugging: ever smaller chunks are left out, all chunks of a size tried in one go, then as many together as may be."""
    fixed = [s for s in history['steps'] if CREATES.match(s)]
    steps = [s for s in history['steps'] if not CREATES.match(s)]

    def work(node, db, out):
        def failing(candidates):
            """Indices of those that still differ, at most a few dozen tables in one play."""
            found = []
            for at in range(0, len(candidates), 24):
                some = candidates[at:at + 24]
                plays = [renamed(history, f"{history['name']}c{i}", fixed + c) for i, c in enumerate(some)]
                record(node, db, plays, out, dict(seed=history['seed']))
                done = subprocess.run([*shlex.split(args.differs), str(out)], capture_output=True, text=True)
                bad = set(re.findall(rf'^DIFFERS {KEYSPACE}\.(\w+)', done.stdout, re.M))
                if done.returncode not in (0, 1):
                    sys.exit(f'{args.differs} ended with {done.returncode}: {done.stderr[-2000:]}')
                found += [at + i for i, p in enumerate(plays) if p['name'] in bad]
            return found

        current = steps
        if not failing([current]):
            sys.exit('the whole history does not differ')
        size = max(1, len(current) // 8)
        while True:
            chunks = [(i, min(i + size, len(current))) for i in range(0, len(current), size)]
            without = lambda gone: [s for i, s in enumerate(current) if not any(a <= i < b for a, b in gone)]
            loose = [chunks[i] for i in failing([without([c]) for c in chunks])]
            if loose:
                unions = sorted({max(1, round(len(loose) * k / 12)) for k in range(1, 13)})
                good = failing([without(loose[:n]) for n in unions])
                current = without(loose[:unions[good[-1]]] if good else loose[:1])
            print(f'chunks of {size}: {len(current)} steps are left', flush=True)
            if size == 1 and not loose:
                break
            size = max(1, min(size // (1 if loose and size == 1 else 2), len(current)))
        small = renamed(history, history['name'], fixed + current)
        meta = record(node, db, [small], out, dict(seed=history['seed']))
        print('\n'.join(small['steps']))
        return meta
    return with_node(args, work)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('mode', choices=['run', 'replay', 'shrink'])
    p.add_argument('files', nargs='*', metavar='FILE')
    p.add_argument('--version', required=True)
    p.add_argument('--format', required=True, choices=['da', 'oa', 'nb', 'me'])
    p.add_argument('--out', required=True, help='folder to fill; replaced when it exists')
    p.add_argument('--work', required=True, help="the node's folder; emptied first")
    p.add_argument('--port', type=int, default=9142)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--histories', type=int, default=10)
    p.add_argument('--ops', type=int, default=500)
    p.add_argument('--rounds', type=int, default=5, help='flushes of a history')
    p.add_argument('--differs', default='', help='for shrink: the command that compares')
    args = p.parse_args()
    begun, major = time.time(), int(args.version.split('.')[0])
    files = [json.loads(pathlib.Path(f).read_text(encoding='utf-8')) for f in args.files]
    if args.mode == 'run':
        histories = [generate(f'h{args.seed}x{i}', args.seed, args.format, major, args.ops, args.rounds) for i in range(args.histories)]
        meta = with_node(args, lambda node, db, out: record(node, db, histories, out, dict(seed=args.seed, ops=args.ops)))
    elif args.mode == 'replay' and files:
        meta = with_node(args, lambda node, db, out: record(node, db, files, out, dict(seed=files[0]['seed'])))
    elif args.mode == 'shrink' and len(files) == 1 and args.differs:
        meta = shrink(args, files[0])
    else:
        p.error('replay needs files; shrink needs one file and --differs')
    report(meta, args.out, begun)


if __name__ == '__main__':
    main()
