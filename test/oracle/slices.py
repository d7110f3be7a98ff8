#!/usr/bin/env python3
"""SSTables of which a slice needs some and not others, by their clusterings, and what a real Cassandra selects from them.

  slices.py --version 5.0.8 --format da --out OUT/slices-da --work DIR [--port 9542]

The same machinery and the same output as golden.py, with expected/answers.json beside: by table [columns, where, rows], the rows as
SELECT JSON ... ALLOW FILTERING gave them, sorted. In all tables but late_life three SSTables have the rows 0 to 99, 100 to 199 and 200 to 299 of each
partition; what comes on top is what may not be passed over. Pack with test/corpus/pack-golden.sh OUT.
"""
import json
import pathlib
import shutil
import sys

from golden import arguments, run

KS = 'slices'
LATER = 'USING TIMESTAMP 1700000000000000'
WHERE = ['pk = 1 AND c = 150', 'pk = 2 AND c >= 100 AND c < 200', 'pk = 3 AND c < 10', 'pk = 2 AND c > 90 AND c < 112', 'c > 290', 'c < 5',
         'pk IN (1, 2, 3) AND c IN (50, 150, 250)', 'c = 155 AND v > 0', 'pk = 1 AND c > 400', 'pk = 1 AND c >= 119 AND c <= 171',
         'token(pk) > -4000000000000000000 AND c = 130']
answers = {}


def ask(db, table, columns, where):
    rows = db(f'SELECT JSON {columns} FROM {KS}.{table} WHERE {where} ALLOW FILTERING')
    answers.setdefault(table, []).append([columns, where, sorted(r[0] for r in rows)])


def three(db, table, body, where=WHERE, columns=('*',), extra=lambda db, t: None, options=(), insert='(pk, c, v) VALUES ({pk}, {c}, {c})'):
    """A table of three SSTables, and what `extra` writes into further ones, a flush at each of its yields."""
    t = f'{KS}.{table}'
    db.create(t, body, *options)
    for first in (0, 100, 200):
        for pk in (1, 2, 3):
            for c in range(first, first + 100):
                db(f'INSERT INTO {t} {insert.format(pk=pk, c=c, a=c // 100)}')
        yield
    yield from extra(db, t) or ()
    for chosen in columns:
        for w in where:
            ask(db, table, chosen, w)


ROWS = 'pk int, c int, v int, PRIMARY KEY (pk, c)'


def plain(db):
    return three(db, 'plain', ROWS)


def descending(db):
    return three(db, 'descending', ROWS, options=['CLUSTERING ORDER BY (c DESC)'])


def partition_deletion(db):
    def extra(db, t):
        db(f'DELETE FROM {t} {LATER} WHERE pk = 2')
        db(f'INSERT INTO {t} (pk, c, v) VALUES (9, 900, 1)')
        yield
        db(f'DELETE FROM {t} {LATER} WHERE pk = 3')
        yield
    return three(db, 'partition_deletion', ROWS, extra=extra)


def range_tombstone(db):
    def extra(db, t):
        db(f'DELETE FROM {t} {LATER} WHERE pk = 1 AND c >= 120 AND c < 170')
        db(f'INSERT INTO {t} (pk, c, v) VALUES (1, 900, 1)')
        yield
    return three(db, 'range_tombstone', ROWS, extra=extra)


def open_ends(db, t):
    db(f'DELETE FROM {t} {LATER} WHERE pk = 2 AND c > 110')
    yield
    db(f'DELETE FROM {t} {LATER} WHERE pk = 3 AND c <= 5')
    db(f'INSERT INTO {t} (pk, c, v) VALUES (3, 900, 1)')
    yield


def open_range(db):
    return three(db, 'open_range', ROWS, extra=open_ends)


def open_range_descending(db):
    return three(db, 'open_range_descending', ROWS, extra=open_ends, options=['CLUSTERING ORDER BY (c DESC)'])


def row_deletion(db):
    def extra(db, t):
        db(f'DELETE FROM {t} {LATER} WHERE pk = 1 AND c = 150')
        yield
        db(f'DELETE v FROM {t} {LATER} WHERE pk = 2 AND c = 155')
        yield
    return three(db, 'row_deletion', ROWS, extra=extra)


def statics(db):
    def extra(db, t):
        for pk in (1, 2, 3):
            db(f'UPDATE {t} SET s = {pk} WHERE pk = {pk}')
        db(f'INSERT INTO {t} (pk, c, v) VALUES (1, 900, 1)')
        yield
        db(f'DELETE s FROM {t} {LATER} WHERE pk = 3')
        yield
        db(f'UPDATE {t} SET s = 4 WHERE pk = 4')
        yield
    where = [*WHERE, 's = 1 AND c = 150', 's > 0 AND c > 290', 'pk = 4 AND c = 1']
    return three(db, 'statics', 'pk int, c int, s int static, v int, PRIMARY KEY (pk, c)', where, ('*', 'pk, c, v', 'c, s'), extra)


def prefixes(db):
    def extra(db, t):
        db(f'DELETE FROM {t} {LATER} WHERE pk = 1 AND a = 1 AND c > 150')
        db(f'INSERT INTO {t} (pk, a, c, v) VALUES (1, 7, 900, 1)')
        yield
        db(f'DELETE FROM {t} {LATER} WHERE pk = 2 AND a = 2')
        yield
    where = ['pk = 1 AND a = 1 AND c = 151', 'pk = 1 AND a = 1 AND c <= 151', 'pk = 2 AND a = 2', 'pk = 2 AND a = 2 AND c > 200', 'a = 0', 'a > 1', 'pk = 3 AND (a, c) > (1, 198)',
             'pk = 1 AND (a, c) >= (1, 149) AND (a, c) < (2, 202)', 'pk IN (1, 2) AND a IN (0, 2)']
    return three(db, 'prefixes', 'pk int, a int, c int, v int, PRIMARY KEY (pk, a, c)', where, extra=extra,
                 insert='(pk, a, c, v) VALUES ({pk}, {a}, {c}, {c})')


def late_life(db):
    """Partitions of several index blocks, of which the first hold dead rows alone; pk 2 has static content, pk 3 nothing that lives."""
    t = f'{KS}.late_life'
    db.create(t, 'pk int, c int, s int static, v int, PRIMARY KEY (pk, c)')
    for pk in (1, 2, 3):
        for c in range(600):
            db(f'DELETE FROM {t} WHERE pk = {pk} AND c = {c}')
    db(f'INSERT INTO {t} (pk, c, v) VALUES (1, 590, 1)')
    db(f'INSERT INTO {t} (pk, s) VALUES (2, 2)')
    yield
    db(f'INSERT INTO {t} (pk, c, v) VALUES (1, 300, 1)')
    yield
    for where in ('pk = 1', 'pk = 1 AND c < 400', 'pk = 2', 'pk = 2 AND c > 1', 'pk IN (1, 2, 3)', 'c > 500'):
        ask(db, 'late_life', '*', where)


TABLES = [late_life, plain, descending, partition_deletion, range_tombstone, open_range, open_range_descending, row_deletion, statics, prefixes]

if __name__ == '__main__':
    args = arguments()
    status = run(args, [KS], TABLES)
    out = pathlib.Path(args.out)
    shutil.rmtree(out / 'data' / 'system')  # system_schema is enough to read them
    shutil.rmtree(out / 'sstabledump', ignore_errors=True)
    lines = [json.dumps(t) + ': [\n' + ',\n'.join(json.dumps(a) for a in asked) + '\n]' for t, asked in answers.items()]
    (out / 'expected' / 'answers.json').write_text('{\n' + ',\n'.join(lines) + '\n}\n')
    sys.exit(status)
