"""Asks a node that serves a golden set what random predicates select there; golden-answers.json is the result.

    cp -r GOLDEN/da/data /tmp/n/; test/oracle/cassandra.sh start 5.0.8 da /tmp/n 9342
    record-golden.py --port 9342 --golden GOLDEN/da --out golden-answers.json

Of each table: predicates, each with the indexes of the rows that `SELECT JSON * ... ALLOW FILTERING` gave, in order, as runs
[first, last] into the lines of expected/KS.TABLE.ndjson; where they are many, as `count:SHA-1` of the indexes joined by commas.
What Cassandra refuses is left out.
"""
import argparse
import hashlib
import json
import random
import sys

from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
from cassandra.query import SimpleStatement, tuple_factory

# partition key, clustering, other columns with a literal each, and whole conditions to mix in
TABLES = {
    'wide': (['pk'], ['c', 'k2'], ['a', 'b'], []),
    'deletions': (['pk'], ['c1', 'c2'], ['v', 'w'], ['l CONTAINS 2', "m['a'] = 3", 'st CONTAINS 7', "m CONTAINS KEY 'b'", 'm CONTAINS 1']),
    'deletions_desc': (['pk'], ['c1', 'c2'], ['v', 'w'], ['l CONTAINS 2', "m['a'] = 3"]),
    'static_rows': (['pk'], ['c'], ['s1', 'v'], ['s4 CONTAINS 1', "s2['a'] = 5", 's3 CONTAINS 2']),
    'clustering_mixed': (['a', 'b'], ['c', 'd', 'e'], ['v', 'w'], []),
    'many_partitions': (['k'], [], ['v'], []),
}


def literal(value):
    return str(value) if isinstance(value, (int, float)) else "'" + value.replace("'", "''") + "'"


def predicates(rng, rows, tokens, keys, clustering, others, conditions, count):
    rows = [(r, t) for r, t in zip(rows, tokens)]
    full = [(r, t) for r, t in rows if all(r[c] is not None for c in keys + clustering)]
    found = []
    for _ in range(count):
        parts = []
        row, token = rng.choice(full)
        other, other_token = rng.choice(full)
        kind = rng.randrange(10)
        if kind < 5:
            if rng.random() < 0.5:
                parts += [f'{k} = {literal(row[k])}' for k in keys]
            else:
                parts += [f"{k} IN ({', '.join(literal(r[k]) for r, _ in rng.sample(full, min(len(full), 3)) + [(row, 0)])})" for k in keys]
        elif kind < 7:
            a, b = sorted((int(token), int(other_token)))
            parts.append(f"token({', '.join(keys)}) {rng.choice(['>', '>='])} {a} AND token({', '.join(keys)}) {rng.choice(['<', '<='])} {b}")
        if clustering and rng.random() < 0.8:
            depth = rng.randrange(len(clustering))
            parts += [f'{c} = {literal(row[c])}' for c in clustering[:depth]]
            c = clustering[depth]
            shape = rng.randrange(5)
            low, high = sorted((row[c], other[c]), key=lambda v: (str(type(v)), v))
            if shape == 0:
                parts.append(f'{c} = {literal(row[c])}')
            elif shape == 1:
                parts.append(f"{c} {rng.choice(['>', '>=', '<', '<='])} {literal(row[c])}")
            elif shape == 2:
                parts.append(f"{c} {rng.choice(['>', '>='])} {literal(low)} AND {c} {rng.choice(['<', '<='])} {literal(high)}")
            elif shape == 3:
                parts.append(f"{c} IN ({', '.join(literal(r[c]) for r, _ in rng.sample(full, min(len(full), 4)))})")
            elif depth == 0:
                n = rng.randrange(1, len(clustering) + 1)
                names = ', '.join(clustering[:n])
                parts.append(f"({names}) {rng.choice(['>', '>=', '<', '<=', '='])} ({', '.join(literal(row[x]) for x in clustering[:n])})")
        if rng.random() < 0.4 and others:
            c = rng.choice(others)
            value, _ = rng.choice(rows)
            if value[c] is not None:
                parts.append(f"{c} {rng.choice(['=', '>', '>=', '<', '<='])} {literal(value[c])}")
        if conditions and rng.random() < 0.3:
            parts.append(rng.choice(conditions))
        if parts:
            found.append(' AND '.join(parts))
    return list(dict.fromkeys(found))


def runs(indexes):
    result = []
    for i in indexes:
        if result and result[-1][1] == i - 1:
            result[-1][1] = i
        else:
            result.append([i, i])
    if len(result) > 40:
        return f"{len(indexes)}:{hashlib.sha1(','.join(map(str, indexes)).encode()).hexdigest()}"
    return result


def main():
    args = argparse.ArgumentParser()
    args.add_argument('--port', type=int, required=True)
    args.add_argument('--golden', required=True)
    args.add_argument('--out', required=True)
    args.add_argument('--count', type=int, default=150)
    args = args.parse_args()
    profile = ExecutionProfile(row_factory=tuple_factory, request_timeout=120)
    session = Cluster(['127.0.0.1'], port=args.port, execution_profiles={EXEC_PROFILE_DEFAULT: profile}).connect('golden')
    rng = random.Random(11)
    out = {}
    for name, shape in TABLES.items():
        keys, clustering, others, conditions = shape
        lines = open(f'{args.golden}/expected/golden.{name}.ndjson', encoding='utf-8').read().splitlines()
        tokens = open(f'{args.golden}/expected/golden.{name}.tokens.csv', encoding='utf-8').read().split()
        index = {line: i for i, line in enumerate(lines)}
        answers = []
        refused = 0
        for where in predicates(rng, [json.loads(x) for x in lines], tokens, keys, clustering, others, conditions, args.count):
            try:
                rows = session.execute(SimpleStatement(f'SELECT JSON * FROM {name} WHERE {where} ALLOW FILTERING', fetch_size=None))
            except Exception:
                refused += 1
                continue
            # IN on the partition key gives its rows key by key.
            answers.append([where, runs(sorted(index[row[0]] for row in rows))])
        print(name, len(answers), 'answered', refused, 'refused', sum(1 for a in answers if not a[1]), 'empty', file=sys.stderr)
        out[name] = answers
    with open(args.out, 'w', encoding='utf-8') as f:
        f.write('{\n' + ',\n'.join(
            f'{json.dumps(t)}: [\n' + ',\n'.join(json.dumps(a, ensure_ascii=False) for a in rows) + '\n]' for t, rows in out.items()) + '\n}\n')


main()
