#!/usr/bin/env python3
"""Asks a real Cassandra which rows a WHERE clause selects, for plan.test.ts.

    test/oracle/cassandra.sh start 5.0.8 da /tmp/n1 9442
    python record-answers.py --port 9442 --out answers.json

Makes tables, fills them, and records for each its columns, its rows as the wire carries them, and for many WHERE bodies (fixed ones
and random ones of a fixed seed) the rows that `SELECT ... WHERE body ALLOW FILTERING` gives, or what the error says. Where a random one is
refused, its rows are those that the answers to its relations, asked one by one, have in common.
Needs the PyPI package cassandra-driver.
"""
import argparse
import json
import random

from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
from cassandra.protocol import ProtocolHandler, ResultMessage
from cassandra.query import SimpleStatement, tuple_factory

KS = 'predicates'

# name: (DDL body, statements that fill it, fixed WHERE bodies, choices of relations for random ones)
TABLES = {
    'scalars': (
        'pk int, c int, a ascii, bi bigint, bl blob, bo boolean, da date, de decimal, do double, du duration, f float, i inet, '
        'n int, si smallint, t text, ti time, ts timestamp, tu timeuuid, ty tinyint, u uuid, v varint, PRIMARY KEY (pk, c)',
        [f"INSERT INTO {{t}} (pk, c, {cols}) VALUES ({pk}, {c}, {values})"
         for pk, c, cols, values in [
             (1, 1, 'a, bi, bl, bo, da, de, do, du, f, i, n, si, t, ti, ts, tu, ty, u, v',
              "'abc', 5, 0x00ff, true, '2020-01-01', 1.0, 1.5, 3d, 1.5, '127.0.0.1', 7, 300, 'x', '10:00:00', '2020-01-01T00:00:00Z', "
              "50554d6e-29bb-11e5-b345-feff819cdc9f, 5, 8f14e45f-ceea-467f-a0ff-0c29c3b5ac0f, 100000000000000000000"),
             (1, 2, 'a, bi, bl, bo, da, de, do, du, f, i, n, si, t, ti, ts, tu, ty, u, v',
              "'ABC', -5, 0x, false, '1969-12-31', 1.00, -0.0, 1mo, NaN, '::1', -7, -300, '', '00:00:00', '1969-12-31T23:59:59.999Z', "
              "50554d6e-29bb-11e5-b345-feff819cdc00, -5, 50554d6e-29bb-11e5-b345-feff819cdc9f, -1"),
             (1, 3, 'n', '0'),
             (1, 4, 'n, bi, de, f, do, v', "blobAsInt(0x), blobAsBigint(0x), blobAsDecimal(0x), Infinity, NaN, 0"),
             (2, 1, 'bl, de, do, f, t', "0xff, 1E+1, 0.0, -0.0, 'é'"),
             (2, 2, 'bl, de, do, f, t', "0x00, 10, -Infinity, 0.0, '𝄞'"),
             (3, 1, 't', "'x'"),
         ]],
        ['a = \'abc\'', 'a > \'ABC\'', 'bi < 5', 'bi = -5', 'bl >= 0x00ff', 'bl = 0x', 'bl < 0xff', 'bo = true', 'bo = false', 'bo > false',
         "da >= '1970-01-01'", "da = '2020-01-01'", 'de = 1', 'de = 1.000', 'de = 10', 'de < 10', 'de > 1', 'do = 0.0', 'do = -0.0', 'do < 0.0',
         'do >= NaN', 'do = NaN', 'do < NaN', 'do > -Infinity', 'du = 3d', 'du = 1mo', 'du > 1d', 'f = 0', 'f < 0', 'f = NaN', 'f > 1.5', 'f <= Infinity',
         "i = '127.0.0.1'", "i > '::1'", 'n = 0', 'n < 0', 'n <= 0', 'n > -8', 'si = 300', "t = ''", "t > ''", "t >= 'x'", "t = 'é'", "ti > '09:00:00'",
         "ts < '1970-01-01'", "ts = 1577836800000", 'tu > 50554d6e-29bb-11e5-b345-feff819cdc00', 'tu <= 50554d6e-29bb-11e5-b345-feff819cdc9f',
         'ty = -5', 'ty < 5', 'u > 50554d6e-29bb-11e5-b345-feff819cdc9f', 'u = 8f14e45f-ceea-467f-a0ff-0c29c3b5ac0f', 'v > 99999999999999999999', 'v = -1', 'v < 0',
         'pk = 1', 'pk = 1 AND c = 2', 'pk = 1 AND c > 1', 'pk = 1 AND c >= 2 AND c < 4', 'pk IN (2, 1, 3, 9)', 'pk IN ()', 'pk = 1 AND c IN (3, 1, 3)', 'c = 1', 'c > 2',
         'pk > 1', 'pk >= 2 AND c = 1', 'token(pk) > 0', 'token(pk) <= 0', 'token(pk) > token(1)', 'token(pk) >= token(1)', 'token(pk) = token(2)',
         'token(pk) < token(1)', 'token(pk) < -9223372036854775808', 'token(pk) <= -9223372036854775808', 'token(pk) > -9223372036854775808',
         'token(pk) >= 9223372036854775807', 'token(pk) > 9223372036854775807', 'token(pk) > 5 AND token(pk) < 5', 'token(pk) > 100 AND token(pk) <= 5',
         'token(pk) > 0 AND pk = 1', 'pk = 1 AND n > 0', "pk = 1 AND t = 'x' AND n = 7", 'n != 7', "t LIKE 'x%'", 'n = null', 'n IN (1, 2)', 'nope = 1',
         'n = \'1\'', 't = 1', 'n = 3000000000', 'pk = 1 AND pk = 1', 'n > 0 AND n > 1', 'n = ?', 'n CONTAINS 1', 'n IS NOT NULL', 'pk = 1 OR pk = 2', '(n = 7)', '((n = 7))',
         'pk = 1 AND (c) > (2)', 'pk = 1 AND c = 1.0', 'bo = 1', "da = 18262", 'de = 1e0', 'f = 1.5', 'bl = \'00ff\'', 'u = \'x\'', 'ti = 36000000000000'],
        None),
    'slices': (
        'pk int, c1 int, c2 text, c3 bigint, v int, PRIMARY KEY (pk, c1, c2, c3)', 'product', [], None),
    'slices_mixed': (
        'pk int, c1 int, c2 text, c3 bigint, v int, PRIMARY KEY (pk, c1, c2, c3)', 'product', [], 'CLUSTERING ORDER BY (c1 DESC, c2 ASC, c3 DESC)'),
    'slices_desc': (
        'pk int, c1 int, c2 text, c3 bigint, v int, PRIMARY KEY (pk, c1, c2, c3)', 'product', [], 'CLUSTERING ORDER BY (c1 DESC, c2 DESC, c3 DESC)'),
    'composite_pk': (
        'p1 int, p2 text, p3 blob, c int, v int, PRIMARY KEY ((p1, p2, p3), c)',
        [f"INSERT INTO {{t}} (p1, p2, p3, c, v) VALUES ({a}, '{b}', 0x{c}, 1, {a})" for a in (1, 2) for b in ('', 'x') for c in ('', '00', 'ff')],
        ['p1 = 1', 'p1 = 1 AND p2 = \'x\'', "p1 = 1 AND p2 = 'x' AND p3 = 0x00", "p1 IN (1, 2) AND p2 IN ('x', '', 'z') AND p3 = 0xff", "p2 = '' AND p3 > 0x",
         "p1 = 1 AND p2 = 'x' AND p3 IN ()", 'p3 >= 0x00', "token(p1, p2, p3) > token(1, 'x', 0x00)", 'token(p1, p2) > 0', 'token(p2, p1, p3) > 0', "p2 > 'a' AND v = 2",
         "p1 = 1 AND p2 = 'x' AND p3 > 0x00"],
        None),
    'statics': (
        'pk int, c int, s int static, sm map<text, int> static, v int, PRIMARY KEY (pk, c)',
        ['INSERT INTO {t} (pk, s) VALUES (1, 10)', 'INSERT INTO {t} (pk, s, c, v) VALUES (2, 20, 1, 1)', 'INSERT INTO {t} (pk, c, v) VALUES (2, 2, 2)',
         'INSERT INTO {t} (pk, c, v) VALUES (3, 1, 1)', "INSERT INTO {t} (pk, sm) VALUES (4, {{'a': 1}})", 'INSERT INTO {t} (pk, s) VALUES (5, 20)', 'INSERT INTO {t} (pk, c) VALUES (5, 7)'],
        ['s = 10', 's = 20', 's > 5', 's >= 10 AND v = 1', 's = 10 AND c = 1', 'pk = 1', 'pk = 1 AND c > 0', 'pk = 1 AND s = 10', 'pk = 2 AND s = 20', 'pk = 2 AND s = 21', 'v = 1', 'c = 1', 'c > 0', 'pk > 0',
         "sm['a'] = 1", "sm CONTAINS 1", "sm CONTAINS KEY 'a'", "sm CONTAINS KEY 'b'", 'pk IN (1, 2) AND s > 0', 'token(pk) > token(1)', 's = 20 AND pk = 5', 's = 20 AND c = 7', 's IN (10, 20)'],
        None),
    'collections': (
        'pk int PRIMARY KEY, l list<decimal>, s set<decimal>, m map<text, decimal>, fl frozen<list<decimal>>, fs frozen<set<decimal>>, fm frozen<map<decimal, decimal>>, '
        'lu list<frozen<tuple<int, text>>>, flu frozen<list<frozen<tuple<int, text>>>>, ff frozen<list<float>>, lf list<float>, fb frozen<set<blob>>, tu tuple<int, text>, ud frozen<pair>, um pair, ve vector<float, 2>, fln frozen<list<frozen<list<decimal>>>>, '
        'fi frozen<set<inet>>',
        ["INSERT INTO {t} (pk, l, s, m, fl, fs, fm, lu, flu, ff, lf, fb, tu, ud, um, ve, fln, fi) VALUES (1, [1.0, 2.5], {{1.0, 2.5}}, {{'a': 1.0, 'b': 2.5}}, [1.0, 2.5], {{1.0, 2.5}}, {{1.0: 1.0, 2.5: 2.5}}, "
         "[(1, 'a')], [(1, 'a')], [0.0, NaN], [0.0, NaN], {{0x, 0x00}}, (1, 'a'), {{x: 1, y: 'a'}}, {{x: 1, y: 'a'}}, [1, 2], [[1.0]], {{'127.0.0.1', '::1'}})",
         "INSERT INTO {t} (pk, l, s, m, fl, fs, fm, lu, flu, ff, lf, tu, ud, um, ve, fln) VALUES (2, [1.00], {{1.00}}, {{'a': 1.00}}, [1.00], {{1.00}}, {{1.00: 1.00}}, [(1, null)], [(1, null)], [-0.0], [-0.0], (1, null), {{x: 1}}, {{x: 1}}, [1, 3], [[1.00], []])",
         "INSERT INTO {t} (pk, l, fl, fm, tu, ud) VALUES (3, [], [], {{}}, (null, 'a'), {{y: 'a'}})",
         "INSERT INTO {t} (pk, s, m) VALUES (4, {{3}}, {{'': 3}})",
         "DELETE s[3] FROM {t} WHERE pk = 4", "INSERT INTO {t} (pk) VALUES (5)"],
        ['l CONTAINS 1.0', 'l CONTAINS 1.00', 'l CONTAINS 1', 'fl CONTAINS 1.0', 'fl CONTAINS 1.00', 'fl CONTAINS 1', 's CONTAINS 1.0', 's CONTAINS 1.000', 'fs CONTAINS 1.0', 'fs CONTAINS 1.00', 's CONTAINS 3',
         "m CONTAINS 1", "m CONTAINS 2.5", "m CONTAINS KEY 'a'", "m CONTAINS KEY ''", "m['a'] = 1", "m['a'] = 1.00", "m['b'] = 2.5", "m['b'] = 1", "m['z'] = 1", 'fm CONTAINS 1.0', 'fm CONTAINS 1.00', 'fm CONTAINS KEY 1', 'fm CONTAINS KEY 1.00', 'fm[1] = 1',
         "lu CONTAINS (1, 'a')", "flu CONTAINS (1, 'a')", 'lu CONTAINS (1, null)', 'flu CONTAINS (1, null)', 'ff CONTAINS NaN', 'ff CONTAINS 0', 'ff CONTAINS -0.0', 'lf CONTAINS NaN', 'lf CONTAINS 0', 'lf CONTAINS -0.0', 'fb CONTAINS 0x', 'fb CONTAINS 0x00',
         "tu = (1, 'a')", 'tu = (1, null)', "tu > (1, null)", "tu >= (null, 'a')", "tu < (1, 'a')", "ud = {x: 1, y: 'a'}", 'ud = {x: 1}', "ud = {y: 'a'}", "ud > {x: 1}", "um = {x: 1, y: 'a'}", 'um CONTAINS 1', 've = [1, 2]', 've > [1, 2]', 've CONTAINS 1',
         'fl = [1, 2.5]', 'fl = [1.0]', 'fl = []', 'fl > [1]', 'fl >= []', 'fl < [2]', 'fs = {1.0}', 'fs = {1.0, 2.5}', 'fs = {2.5, 1.0, 1.0}', 'fm = {1: 1}', 'fm = {}', 'fm > {1: 1}', 'l = [1]', 's = {1}', "m = {'a': 1}", 'm > {}', 'l[0] = 1', 'm CONTAINS null', 'l IN ([1])', 'fl IN ([1], [1, 2.5])',
         'fln CONTAINS [1.0]', 'fln CONTAINS [1.00]', 'fln CONTAINS []', "fi CONTAINS '127.0.0.1'", "fi CONTAINS '::1'", "fi CONTAINS '::ffff:127.0.0.1'", "pk CONTAINS 1", 's CONTAINS KEY 1', "l CONTAINS 1 AND l CONTAINS 2.5", "m['a'] = 1 AND m['b'] = 2.5"],
        None),
    'counters': (
        'pk int, c int, n counter, PRIMARY KEY (pk, c)',
        ['UPDATE {t} SET n = n + 5 WHERE pk = 1 AND c = 1', 'UPDATE {t} SET n = n - 5 WHERE pk = 1 AND c = 2', 'UPDATE {t} SET n = n + 0 WHERE pk = 1 AND c = 3', 'UPDATE {t} SET n = n + 9223372036854775807 WHERE pk = 2 AND c = 1'],
        ['n = 5', 'n > 0', 'n < 0', 'n = -5', 'n >= 0', 'n = 9223372036854775807', 'n > 5 AND c = 1', 'n IN (5, -5)'],
        None),
    'dense': (
        'pk int, c1 int, c2 int, v int, PRIMARY KEY (pk, c1, c2)',
        ['INSERT INTO {t} (pk, c1, v) VALUES (1, 1, 0)', 'INSERT INTO {t} (pk, c1, c2, v) VALUES (1, 1, 1, 1)', 'INSERT INTO {t} (pk, c1, c2, v) VALUES (1, 1, 2, 2)', 'INSERT INTO {t} (pk, c1, v) VALUES (1, 2, 3)', 'INSERT INTO {t} (pk, c1, c2, v) VALUES (2, 1, 1, 4)'],
        ['pk = 1 AND c1 = 1', 'pk = 1 AND c1 = 1 AND c2 < 2', 'pk = 1 AND c1 = 1 AND c2 > 1', 'pk = 1 AND c1 = 1 AND c2 <= 1', 'pk = 1 AND c1 = 1 AND c2 >= 1', 'pk = 1 AND (c1, c2) > (1, 1)', 'pk = 1 AND (c1, c2) < (2, 0)', 'pk = 1 AND (c1, c2) <= (1, 1)', 'c2 < 2', 'c2 = 1', 'c1 = 1', 'c2 > 0 AND v > 1', 'pk = 1 AND c1 > 0'],
        'COMPACT STORAGE'),
    'empties': (
        'pk int, c text, d int, v int, PRIMARY KEY (pk, c, d)',
        [f"INSERT INTO {{t}} (pk, c, d, v) VALUES (1, '{c}', {d}, {i})" for i, (c, d) in enumerate([('', 1), ('', -1), ('', 'blobAsInt(0x)'), ('a', 'blobAsInt(0x)'), ('a', 5), ('a', -5)])],
        ["pk = 1 AND c = ''", "pk = 1 AND c > ''", "pk = 1 AND c >= ''", "pk = 1 AND c = 'a' AND d < 5", "pk = 1 AND c = 'a' AND d >= -5", "pk = 1 AND c = 'a' AND d > -100", 'd < 0', 'd >= -5', "pk = 1 AND (c, d) > ('', -1)", "pk = 1 AND (c, d) <= ('', -1)"],
        'CLUSTERING ORDER BY (c ASC, d DESC)'),
}


class Raw(ResultMessage):
    """Leaves the values of rows as they came."""

    def recv_results_rows(self, f, protocol_version, user_type_map, result_metadata, column_encryption_policy=None):
        self.recv_results_metadata(f, user_type_map)
        metadata = self.column_metadata or result_metadata
        count = int.from_bytes(f.read(4), 'big')
        value = lambda: (lambda n: None if n < 0 else f.read(n))(int.from_bytes(f.read(4), 'big', signed=True))
        self.parsed_rows = [tuple(value() for _ in metadata) for _ in range(count)]
        self.column_names = [c[2] for c in metadata]
        self.column_types = [c[3] for c in metadata]


class RawHandler(ProtocolHandler):
    message_types_by_opcode = {**ProtocolHandler.message_types_by_opcode, Raw.opcode: Raw}


def product(order):
    """A small cube, some of it missing, and random relations over it."""
    rng = random.Random(5)
    fill = []
    n = 0
    for pk in (1, 2):
        for c1 in (-1, 0, 1):
            for c2 in ('', 'a', 'b'):
                for c3 in (-9, 0, 9):
                    n += 1
                    if rng.random() < 0.8:
                        fill.append(f"INSERT INTO {{t}} (pk, c1, c2, c3, v) VALUES ({pk}, {c1}, '{c2}', {c3}, {n % 5})")
    values = {'c1': ['-2', '-1', '0', '1', '2'], 'c2': ["''", "'a'", "'aa'", "'b'"], 'c3': ['-9', '-1', '0', '9']}
    names = list(values)
    one = lambda c: rng.choice(values[c])

    def relation():
        kind = rng.randrange(7)
        c = rng.choice(names)
        if kind < 2:
            return f'{c} = {one(c)}'
        if kind == 2:
            return f"{c} IN ({', '.join(one(c) for _ in range(rng.randrange(4)))})"
        if kind == 3:
            return f"{c} {rng.choice(['<', '<=', '>', '>='])} {one(c)}"
        if kind == 4:
            a = one(c)
            return f"{c} {rng.choice(['>', '>='])} {a} AND {c} {rng.choice(['<', '<='])} {one(c)}"
        start = rng.randrange(3)
        cols = names[start:rng.randrange(start, 3) + 1]
        row = lambda: f"({', '.join(one(x) for x in cols)})"
        head = f"({', '.join(cols)})"
        if kind == 5:
            return f"{head} {rng.choice(['=', '<', '<=', '>', '>='])} {row()}"
        if rng.random() < 0.4:
            return f"{head} {rng.choice(['>', '>='])} {row()} AND {head} {rng.choice(['<', '<='])} {row()}"
        return f"{head} IN ({', '.join(row() for _ in range(rng.randrange(1, 4)))})"

    wheres = []
    for _ in range(300):
        parts = [relation() for _ in range(rng.randrange(1, 4))]
        if rng.random() < 0.6:
            parts.append(rng.choice(['pk = 1', 'pk IN (1, 2)', 'token(pk) > token(1)']))
        if rng.random() < 0.2:
            parts.append(f'v > {rng.randrange(5)}')
        rng.shuffle(parts)
        wheres.append(' AND '.join(parts))
    return fill, wheres


# Cassandra refuses many conjunctions of relations that it answers one by one, some only together with what stands here: every
# value there is of the columns before.
EVERYTHING_BEFORE = {'c2': 'pk IN (1, 2) AND c1 IN (-1, 0, 1)', 'c3': "pk IN (1, 2) AND c1 IN (-1, 0, 1) AND c2 IN ('', 'a', 'b')"}


def one_by_one(ask, rows, where):
    found = set(range(len(rows)))
    for relation in where.split(' AND '):
        try:
            some = ask(f' WHERE {relation} ALLOW FILTERING')
        except Exception:
            some = ask(f" WHERE {EVERYTHING_BEFORE[relation.lstrip('(')[:2]]} AND {relation} ALLOW FILTERING")
        found &= {rows.index(r) for r in some}
    return sorted(found)


def main():
    args = argparse.ArgumentParser()
    args.add_argument('--port', type=int, required=True)
    args.add_argument('--out', required=True)
    args = args.parse_args()
    profile = ExecutionProfile(row_factory=tuple_factory)
    cluster = Cluster(['127.0.0.1'], port=args.port, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    session = cluster.connect()
    session.execute(f'DROP KEYSPACE IF EXISTS {KS}')
    session.execute(f"CREATE KEYSPACE {KS} WITH replication = {{'class': 'SimpleStrategy', 'replication_factor': 1}}")
    session.set_keyspace(KS)
    session.execute('CREATE TYPE pair (x int, y text)')
    out = {}
    version = session.execute('SELECT release_version FROM system.local').one()[0]
    tables = {}
    for name, (columns, fill, wheres, options) in TABLES.items():
        if fill == 'product':
            fill, wheres = product(options)
        session.execute(f"CREATE TABLE {name} ({columns})" + (f' WITH {options}' if options else ''))
        for statement in fill:
            session.execute(statement.format(t=name))
        tables[name] = wheres
    raw = Cluster(['127.0.0.1'], port=args.port, execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    raw_session = raw.connect(KS)
    raw_session.client_protocol_handler = RawHandler
    for name, wheres in tables.items():
        schema = [dict(zip(('name', 'kind', 'position', 'type', 'order'), row)) for row in session.execute(
            f"SELECT column_name, kind, position, type, clustering_order FROM system_schema.columns WHERE keyspace_name = '{KS}' AND table_name = '{name}'")]
        names = [c['name'] for c in schema]
        keys = [c['name'] for c in sorted(schema, key=lambda c: c['position']) if c['kind'] == 'partition_key']
        select = f"SELECT token({', '.join(keys)}), {', '.join(names)} FROM {name}"
        ask = lambda where: [list(r) for r in raw_session.execute(SimpleStatement(select + where, fetch_size=None))]
        rows = ask('')
        answers = []
        for where in dict.fromkeys(wheres):
            try:
                found = ask(f' WHERE {where} ALLOW FILTERING')
                answers.append({'where': where, 'rows': sorted(rows.index(r) for r in found)})
            except Exception as e:
                message = getattr(e, 'message', None) or str(e)
                answer = {'where': where, 'error': message.split('message="')[-1].rstrip('">')[:200]}
                if name.startswith('slices'):
                    answer['rows'] = one_by_one(ask, rows, where)
                answers.append(answer)
        hexed = [[None if v is None else v.hex() for v in row] for row in rows]
        out[name] = {'columns': schema, 'rows': hexed, 'answers': answers}
    with open(args.out, 'w', encoding='utf-8') as f:
        f.write(f'{{"version": {json.dumps(version)}, "tables": {{\n')
        f.write(',\n'.join(
            f'{json.dumps(name)}: {{"columns": {json.dumps(t["columns"])},\n"rows": [\n' + ',\n'.join(map(json.dumps, t['rows']))
            + '\n], "answers": [\n' + ',\n'.join(json.dumps(a, ensure_ascii=False) for a in t['answers']) + '\n]}' for name, t in out.items()))
        f.write('\n}}\n')


main()
