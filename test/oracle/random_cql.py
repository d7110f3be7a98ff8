"""Random CQL: a schema and a history of statements over it, from a seed, without a node.

  history = generate(name='h1x0', seed=1, fmt='da', major=5, ops=500, rounds=5)

gives dict(name, seed, format, steps, queries): `steps` are CQL statements in order, with the marks FLUSH and COMPACT
(a flush, then a compaction of this table) between them; `queries` is what to ask of the table then (random_queries.py). Every statement that can carries its timestamp, so the same steps
leave the same data whenever they are played (but for the second in which a TTL ends). A node may refuse some statements
(an index beyond a list's end, a range over a type that has no order); the player leaves those out.
"""
import dataclasses
import decimal
import random
import re
import uuid

from golden import EXTREMES, SCALARS, hexs, q, quote, words
from random_queries import queries

KEYSPACE = 'hist'
FLUSH, COMPACT = '#flush', '#compact'
BASE_US = 1_600_000_000_000_000
LONG_TTL = 300_000_000  # ends before 2038, so that no version caps it
TEXTS = ('ascii', 'text', 'varchar')
NAMES = ['a', 'b', 'val', 'note', 'Mixed', 'with space', 'select', 'x1', 'zz', 'é', 'long_name_of_a_column', '_u', 'q"uote', 'b2', 'b3', 'm']


# ---------------------------------------------------------------- types and values

@dataclasses.dataclass(frozen=True)
class Type:
    kind: str             # a scalar's name, list, set, map, tuple, vector, udt
    args: tuple = ()      # inner types
    name: str = ''        # of a udt
    size: int = 0         # of a vector
    frozen: bool = False

    def __str__(self):
        inner = ', '.join(map(str, self.args))
        if self.kind in ('list', 'set', 'map', 'tuple'):
            text = f'{self.kind}<{inner}>'
        elif self.kind == 'vector':
            text = f'vector<{inner}, {self.size}>'
        else:
            text = self.name or self.kind
        return f'frozen<{text}>' if self.frozen else text

    @property
    def complex(self):
        """Of many cells: a collection or user-defined type that is not frozen."""
        return not self.frozen and self.kind in ('list', 'set', 'map', 'udt')


def same_value(literal):
    """Equal for literals of one value, as far as those here go."""
    exact = decimal.Context(prec=10_000)

    def number(match):
        value = exact.create_decimal(match[0])
        return '0' if value == 0 else str(value.normalize(exact))
    return re.sub(r"(?<![\w'.+-])-?\d+(\.\d+)?([eE][+-]?\d+)?(?![\w'.])", number, literal.replace("'1969-12-31 23:59:59.999+0000'", '-1'))


class Values:
    """Random types and literals. `types` holds the user-defined ones: name -> field -> Type."""

    def __init__(self, rng, fmt, major, prefix):
        self.rng, self.major, self.prefix, self.types = rng, major, prefix, {}
        self.pool = {k: [v for v in vs if 'fromJson' not in v and len(v) < 500] for k, vs in EXTREMES.items()}
        self.pool['decimal'] += ['1E+10', '-1E-30', '1.50', '1.5', '-0.001']
        if fmt == 'me':  # 3.11 prints old and far dates its own way
            self.pool['date'] = self.pool['date'][:2] + ["'2024-02-29'", "'1999-12-31'"]
            self.pool['timestamp'] = ['0', '-1', '1', "'1969-12-31 23:59:59.999+0000'", '1700000000123']

    def user_types(self, n):
        for i in range(n):
            name = f'{self.prefix}_t{i}'
            fields = {f: self.type(2, nested=True) for f in self.rng.sample(['f1', 'f2', 'f3', 'Big F', 'set'], self.rng.randint(1, 4))}
            self.types[name] = fields

    def scalar(self, key):
        return Type(self.rng.choice([s for s in SCALARS if not (key and s == 'duration')]))

    def type(self, depth, nested=False, key=False):
        """nested: inside another type, so frozen; key: of a set, a map's key or a primary key, so without duration."""
        rng = self.rng
        if depth <= 0 or rng.random() < (0.6 if nested else 0.45):
            return self.scalar(key)
        frozen = nested or rng.random() < 0.3
        inner = lambda k=key: self.type(depth - 1, nested=True, key=k)
        kind = rng.choice(['list', 'set', 'map', 'tuple', 'udt'] + (['vector'] if self.major >= 5 and not key else []))
        if kind == 'list':
            return Type(kind, (inner(),), frozen=frozen)
        if kind == 'set':
            return Type(kind, (inner(True),), frozen=frozen)
        if kind == 'map':
            return Type(kind, (inner(True), inner()), frozen=frozen)
        if kind == 'tuple':
            return Type(kind, tuple(inner() for _ in range(rng.randint(2, 4))), frozen=True)
        if kind == 'vector':
            return Type(kind, (Type('float') if rng.random() < 0.4 else inner(),), size=rng.randint(1, 4))
        fit = [n for n, fields in self.types.items() if not key or not any(self.has_duration(t) for t in fields.values())]
        return Type('udt', name=rng.choice(fit), frozen=frozen) if fit else self.scalar(key)

    def has_duration(self, t):
        inner = self.types[t.name].values() if t.kind == 'udt' else t.args
        return t.kind == 'duration' or any(map(self.has_duration, inner))

    def random_scalar(self, kind):
        rng = self.rng
        bits = {'tinyint': 7, 'smallint': 15, 'int': 31, 'bigint': 63}
        if kind in bits:
            return str(rng.choice([rng.randint(-3, 3), rng.randint(-2**bits[kind], 2**bits[kind] - 1)]))
        if kind in ('text', 'varchar'):
            return q(words(rng, rng.choice([1, 1, 2, 30])) if rng.random() < 0.9 else 'z' * 1500)
        if kind == 'ascii':
            return q(words(rng, rng.randint(1, 3)))
        if kind == 'blob':
            return hexs(rng, rng.choice([0, 1, 4, 300]))
        if kind in ('float', 'double'):
            return repr(rng.choice([rng.randint(-5, 5) / 4, rng.uniform(-1e6, 1e6)]))
        if kind == 'varint':
            return str(rng.randint(-10**rng.randint(1, 30), 10**rng.randint(1, 30)))
        if kind == 'uuid':
            return str(uuid.UUID(bytes=rng.randbytes(16), version=4))
        return rng.choice(self.pool[kind])

    def value(self, t, most=4):
        """A literal."""
        rng = self.rng
        item = lambda a: self.value(a, 2)
        many = lambda: range(rng.choice([0, 1, 1, 2, 2, 3, most]))
        if t.kind == 'list':
            return '[' + ', '.join(item(t.args[0]) for _ in many()) + ']'
        if t.kind == 'set':
            return '{' + ', '.join(item(t.args[0]) for _ in many()) + '}'
        if t.kind == 'map':  # of two entries of one key a node takes any
            entries = [(item(t.args[0]), item(t.args[1])) for _ in many()]
            return '{' + ', '.join(f'{k}: {v}' for k, v in {same_value(k): (k, v) for k, v in entries}.values()) + '}'
        if t.kind == 'tuple':
            return '(' + ', '.join('null' if rng.random() < 0.15 else item(a) for a in t.args) + ')'
        if t.kind == 'vector':
            return '[' + ', '.join(item(t.args[0]) for _ in range(t.size)) + ']'
        if t.kind == 'udt':
            fields = self.types[t.name]
            some = rng.sample(list(fields), rng.randint(1, len(fields)))
            return '{' + ', '.join(f'{quote(f)}: {"null" if rng.random() < 0.1 else item(fields[f])}' for f in some) + '}'
        return rng.choice(self.pool[t.kind]) if rng.random() < 0.4 else self.random_scalar(t.kind)


# ---------------------------------------------------------------- timestamps

class Clock:
    """Write times that ascend, mostly: some fall back, some tie with an earlier statement on purpose.

    3.11 breaks ties between live values its own way, so there only deletions may tie."""

    def __init__(self, rng, fmt):
        self.rng, self.live_ties, self.now, self.used = rng, fmt != 'me', BASE_US, []
        self.seen = set()

    def take(self, deletion=False):
        r = self.rng.random()
        tie = deletion or self.live_ties
        if self.used and r < 0.15 and tie:
            t = self.rng.choice(self.used[-30:])
        elif self.used and r < 0.30:
            t = self.rng.choice(self.used) + self.rng.randint(-400, 400)
            while not tie and t in self.seen:
                t += 1
        else:
            self.now += 1000
            t = self.now
        self.used.append(t)
        self.seen.add(t)
        return t


# ---------------------------------------------------------------- a table and what is done to it

class Table:
    def __init__(self, name, rng, fmt, major):
        self.name, self.full, self.rng, self.major = name, f'{KEYSPACE}.{name}', rng, major
        self.fmt, self.values, self.clock = fmt, Values(rng, fmt, major, name), Clock(rng, fmt)
        self.values.user_types(rng.randint(0, 3))
        self.counter = rng.random() < 0.12
        self.buried = set()
        self.written = {}  # column -> literals that were written to it
        names = iter(rng.sample(NAMES, len(NAMES)))
        key = lambda: self.values.type(1 if rng.random() < 0.2 else 0, nested=True, key=True)
        self.pk = [[f'p{i}', key()] for i in range(rng.choice([1, 1, 1, 2, 3]))]
        self.ck = [[f'c{i}', key(), rng.random() < 0.4] for i in range(rng.choice([0, 1, 1, 2, 2, 3]))]
        column = (lambda: Type('counter')) if self.counter else (lambda: self.values.type(2))
        self.statics = {next(names): column() for _ in range(rng.choice([0, 0, 1, 2]) if self.ck else 0)}
        self.regulars = {next(names): column() for _ in range(rng.randint(1, 2) if self.counter else rng.choice([1, 2, 3, 5, 8]))}
        self.spare, self.dropped = list(names), {}
        many = rng.randint(2, 7) if self.ck else rng.choice([5, 20, 60])
        self.partitions = [p for p in (tuple(self.values.value(t) for _, t in self.pk) for _ in range(many)) if p not in (("''",), ('0x',))]
        self.partitions = self.partitions or [tuple(self.values.random_scalar('text') if t.kind in TEXTS else '0x01' for _, t in self.pk)]
        # Partitions that get no rows, only static content.
        self.static_only = [tuple(self.values.value(t) for _, t in self.pk) for _ in range(rng.randint(1, 3) if self.statics else 0)]
        self.static_only = [p for p in self.static_only if p not in (("''",), ('0x',))]
        self.clusterings = [[self.values.value(t) for _ in range(rng.choice([2, 4, 8, 16, 40] if len(self.ck) < 2 else [2, 3, 5]))] for _, t, _ in self.ck]
        self.deletions = rng.choice([1, 1, 0.4, 0.1])  # how many of the usual: with all of them little is left to be found by a query
        self.default_ttl = LONG_TTL if not self.counter and rng.random() < 0.1 else 0

    def create(self):
        rng = self.rng
        for name, fields in self.values.types.items():
            yield f'CREATE TYPE {KEYSPACE}.{name} ({", ".join(f"{quote(f)} {t}" for f, t in fields.items())})'
        body = [f'{quote(n)} {t}' for n, t in self.pk] + [f'{quote(n)} {t}' for n, t, _ in self.ck]
        body += [f'{quote(n)} {t} static' for n, t in self.statics.items()] + [f'{quote(n)} {t}' for n, t in self.regulars.items()]
        body.append(f"PRIMARY KEY ({', '.join(['(' + ', '.join(quote(n) for n, _ in self.pk) + ')', *(quote(n) for n, *_ in self.ck)])})")
        options = ["compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'false'}"]
        if self.ck:
            options.append('CLUSTERING ORDER BY (' + ', '.join(f'{quote(n)} {"DESC" if d else "ASC"}' for n, _, d in self.ck) + ')')
        codecs = ["'class': 'LZ4Compressor'"] * 3 + ["'class': 'SnappyCompressor'", "'class': 'DeflateCompressor'"] + (["'class': 'ZstdCompressor'"] if self.major >= 4 else [])
        kib = rng.choice(['', ", 'chunk_length_in_kb': '4'", ", 'chunk_length_in_kb': '64'"])
        options.append(f'compression = {{{rng.choice(codecs)}{kib}}}' if rng.random() < 0.85 else "compression = {'enabled': 'false'}")
        if self.default_ttl:
            options.append(f'default_time_to_live = {self.default_ttl}')
        if rng.random() < 0.2:
            options.append('gc_grace_seconds = 0')
        yield f"CREATE TABLE {self.full} ({', '.join(body)}) WITH {' AND '.join(options)}"

    # ---- parts of statements

    def literal(self, name, t):
        text = self.values.value(t)
        self.written.setdefault(name, []).append(text)
        return text

    def partition(self):
        return [f'{quote(n)} = {v}' for (n, _), v in zip(self.pk, self.rng.choice(self.partitions))]

    def clustering(self, upto=None):
        return [f'{quote(n)} = {self.rng.choice(vs)}' for (n, *_), vs in list(zip(self.ck, self.clusterings))[:upto]]

    def using(self, ttl=True, deletion=False):
        text = f'USING TIMESTAMP {self.clock.take(deletion)}'
        r = self.rng.random()
        if ttl and r < 0.22:
            text += f' AND TTL {1 if r < 0.12 * self.deletions else LONG_TTL if r < 0.2 else 0}'
        return text

    def some(self, columns):
        names = list(columns)
        return self.rng.sample(names, self.rng.randint(1, len(names))) if names else []

    def assignment(self, name, t):
        """One SET of an UPDATE; a user-defined type may give several."""
        rng, v, c = self.rng, self.values, quote(name)
        if t.kind == 'counter':
            return f"{c} = {c} {rng.choice('+-')} {rng.choice([0, 1, 1, 7, 2**40])}"
        r = rng.random()
        if r < 0.12:
            return f'{c} = null'
        if not t.complex or r < 0.3:
            return f'{c} = {self.literal(name, t)}'
        if t.kind == 'udt':
            f, ft = rng.choice(list(v.types[t.name].items()))
            return f"{c}.{quote(f)} = {'null' if rng.random() < 0.2 else v.value(ft)}"
        if t.kind == 'list':
            return rng.choice([f'{c} = {c} + {v.value(t)}', f'{c} = {v.value(t)} + {c}', f'{c} = {c} - {v.value(t)}',
                               f'{c}[{rng.randint(0, 3)}] = {v.value(t.args[0])}'])
        if t.kind == 'set':
            return f"{c} = {c} {rng.choice('++-')} {v.value(t)}"
        return rng.choice([f'{c} = {c} + {v.value(t)}', f"{c} = {c} - {v.value(Type('set', t.args[:1]))}",
                           f"{c}[{v.value(t.args[0])}] = {rng.choice([v.value(t.args[1]), v.value(t.args[1]), 'null'])}"])

    def selection(self, name, t):
        """One target of a DELETE: a column, or an element or field of it."""
        c, r = quote(name), self.rng.random()
        if not t.complex or r < 0.4:
            return c
        if t.kind == 'list':
            return f'{c}[{self.rng.randint(0, 3)}]'
        if t.kind == 'udt':
            return f'{c}.{quote(self.rng.choice(list(self.values.types[t.name])))}'
        return f'{c}[{self.values.value(t.args[0])}]'

    # ---- statements

    def insert(self):
        keys = [n for n, _ in self.pk]
        data = list(self.rng.choice(self.partitions))
        some = self.some(self.statics) if self.statics and self.rng.random() < 0.35 else []
        alone = some and self.rng.random() < 0.4
        if alone and self.static_only and self.rng.random() < 0.6:
            data = list(self.rng.choice(self.static_only))
        if not alone:
            keys += [n for n, *_ in self.ck]
            data += [self.rng.choice(vs) for vs in self.clusterings]
            some += self.some(self.regulars) if self.rng.random() < 0.93 else []
        for n in some:
            data.append('null' if self.rng.random() < 0.15 else self.literal(n, {**self.statics, **self.regulars}[n]))
        return f"INSERT INTO {self.full} ({', '.join(map(quote, keys + some))}) VALUES ({', '.join(data)}) {self.using()}"

    def update(self):
        static = bool(self.statics) and self.rng.random() < 0.3
        columns = self.statics if static else self.regulars
        if not columns:
            return self.insert() if not self.counter else None
        where = ' AND '.join(self.partition() + ([] if static else self.clustering()))
        some = [n for n in self.some(columns) if (where, n) not in self.buried]
        if not static and self.statics and self.rng.random() < 0.1:
            some += self.some(self.statics)
        sets = ', '.join(self.assignment(n, {**self.statics, **self.regulars}[n]) for n in some)
        return sets and f"UPDATE {self.full} {'' if self.counter else self.using()} SET {sets} WHERE {where}"

    def delete(self, what, where):
        using = '' if self.counter else self.using(ttl=False, deletion=True)
        return f"DELETE {what} FROM {self.full} {using} WHERE {' AND '.join(where)}"

    def delete_cells(self):
        static = bool(self.statics) and self.rng.random() < 0.3
        columns = self.statics if static else self.regulars
        if not columns:
            return None
        where, some = self.partition() + ([] if static else self.clustering()), self.some(columns)
        if self.counter:  # a counter that was deleted must not be counted again: what it then holds depends on the order of merging
            if not static:
                self.buried |= {(' AND '.join(where), n) for n in some}
            else:
                return None
        return self.delete(', '.join(self.selection(n, columns[n]) for n in some), where)

    def delete_rows(self):
        """A row, all rows below a prefix, a range, a range over several columns, some rows by IN."""
        rng, ck = self.rng, self.ck
        if not ck or rng.random() < 0.3:
            return self.delete('', self.partition() + self.clustering())
        depth = rng.randrange(len(ck))
        where, (n, *_), vs = self.partition() + self.clustering(depth), ck[depth], self.clusterings[depth]
        r = rng.random()
        if r < 0.2 and depth:
            return self.delete('', where)
        if r < 0.35:
            return self.delete('', self.partition() + self.clustering(len(ck) - 1) + [f"{quote(ck[-1][0])} IN ({', '.join(rng.sample(self.clusterings[-1], 2))})"])
        bounds = [rng.choice([('>', None), ('>=', None), ('<', None), ('<=', None), ('>', '<'), ('>=', '<='), ('>', '<='), ('>=', '<')])][0]
        low, names = [], quote(n)
        several = r > 0.75 and len(ck) - depth > 1
        take = rng.randint(2, len(ck) - depth) if several else 1
        if several:
            names = '(' + ', '.join(quote(c[0]) for c in ck[depth:depth + take]) + ')'
        for op in bounds:
            if op:
                value = [rng.choice(v) for v in self.clusterings[depth:depth + take]]
                low.append(f"{names} {op} " + (f"({', '.join(value)})" if several else value[0]))
        return self.delete('', where + low)

    def batch(self):
        """Statements of one partition with one timestamp."""
        self.partitions, all_partitions = [self.rng.choice(self.partitions)], self.partitions
        stamp = self.clock.take()
        parts = [s for s in (self.rng.choice([self.insert, self.update, self.delete_cells, self.delete_rows])() for _ in range(3)) if s]
        self.partitions = all_partitions
        cut = [re.sub(r'USING TIMESTAMP \d+', f'USING TIMESTAMP {stamp}', s, count=1) for s in parts]
        return 'BEGIN UNLOGGED BATCH ' + '; '.join(cut) + '; APPLY BATCH'

    def alter(self):
        rng, all_columns = self.rng, {**self.statics, **self.regulars}
        kind = rng.choice(['add', 'drop', 'drop', 'again', 'again', 'rename', 'field'])
        if kind == 'field' and self.values.types:
            name = rng.choice(list(self.values.types))
            field = f'g{len(self.values.types[name])}'
            t = self.values.scalar(True)
            self.values.types[name][field] = t
            return f'ALTER TYPE {KEYSPACE}.{name} ADD {quote(field)} {t}'
        if kind == 'rename' and self.ck:
            c = rng.choice(self.ck)
            old, c[0] = c[0], c[0] + 'r'
            return f'ALTER TABLE {self.full} RENAME {quote(old)} TO {quote(c[0])}'
        if self.counter:
            return None
        if kind == 'drop' and len(self.regulars) > 1:
            name = rng.choice(list(all_columns))
            static = name in self.statics
            if all_columns[name].complex and rng.random() < 0.7:
                return None  # nodes of 4 and 5 often fail to merge SSTables that hold a collection which is no more
            t = (self.statics if static else self.regulars).pop(name)
            self.dropped[name] = (t, static)
            stamp = max(self.clock.used, default=BASE_US) + 1 if self.fmt == 'me' else self.clock.take(True)  # 3.11 fails to read what is newer than the drop
            return f'ALTER TABLE {self.full} DROP {quote(name)} USING TIMESTAMP {stamp}'
        if kind == 'again' and self.dropped:
            name = rng.choice(list(self.dropped))
            t, static = self.dropped.pop(name)
            if static and t.complex:
                return None
        elif self.spare:
            name, t = self.spare.pop(), self.values.type(2)
            static = bool(self.ck) and rng.random() < 0.3 and not t.complex  # 5.0 fails to merge SSTables of which one knows no complex static column
        else:
            return None
        (self.statics if static else self.regulars)[name] = t
        return f"ALTER TABLE {self.full} ADD {quote(name)} {t}{' static' if static else ''}"

    def statement(self):
        r = self.rng.random()
        if self.counter and r < 0.85:
            return self.update()
        if r < 0.36:
            return self.insert() if not self.counter else self.update()
        if r < 0.70:
            return self.update()
        if r < 0.905:
            if self.rng.random() > self.deletions:
                return self.update() if self.counter else self.insert()
            if r < 0.80:
                return self.delete_cells()
            return self.delete_rows() if r < 0.89 else self.delete('', self.partition())
        if r < 0.93:
            return self.batch() if self.fmt != 'me' and not self.counter else self.update()
        return self.insert() if not self.counter else self.update()


def generate(name, seed, fmt, major, ops, rounds):
    rng = random.Random(f'{seed} {name} {fmt}')
    table = Table(name, rng, fmt, major)
    steps = list(table.create())
    alters = set(rng.sample(range(ops), min(ops // 20, rng.choice([0, 0, 2, 4, 6]))))
    flushes = {ops * (i + 1) // rounds - 1 for i in range(rounds)}
    for i in range(ops):
        statement = (table.alter() if i in alters else None) or table.statement()
        if statement:
            steps.append(statement)
        if i in flushes:
            steps.append(COMPACT if rng.random() < 0.12 else FLUSH)
    return dict(name=name, seed=seed, format=fmt, steps=steps, queries=queries(table, random.Random(f'{seed} {name} {fmt} queries')))
