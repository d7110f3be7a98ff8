"""Random questions to a table of random_cql.py, which a node answers with ALLOW FILTERING: dict(where, distinct). Some of them
a node refuses (order on durations, a slice behind a slice); the player leaves those out."""
from golden import quote

COUNT, DISTINCT = 16, 4
SLICES = ('<', '<=', '>', '>=')


def queries(table, rng):
    found = [dict(where=' AND '.join(conditions(table, rng)), distinct=False) for _ in range(COUNT)]
    found += [dict(where=' AND '.join(of_partitions(table, rng) + of_columns(table, rng, table.statics, 0.3)), distinct=True) for _ in range(DISTINCT)]
    return [q for i, q in enumerate(found) if q['where'] and q not in found[:i]]


def conditions(table, rng):
    return of_partitions(table, rng) + of_clusterings(table, rng) + of_columns(table, rng, {**table.statics, **table.regulars}, 0.5)


def of_partitions(table, rng):
    """Keys by = or IN, a part of the ring, conditions on some of the key's columns, or none."""
    names = [quote(n) for n, _ in table.pk]
    some = lambda: rng.choice(table.partitions + table.static_only)
    token = lambda: f"token({', '.join(some())})" if rng.random() < 0.7 else str(rng.randint(-2**63 + 1, 2**63 - 1))
    left = f"token({', '.join(names)})"
    r = rng.random()
    if r < 0.35:
        return [f'{n} = {v}' for n, v in zip(names, some())]
    if r < 0.5:
        return [f"{n} IN ({', '.join(dict.fromkeys(some()[i] for _ in range(rng.randint(1, 4))))})" for i, n in enumerate(names)]
    if r < 0.7:
        bounds = rng.choice([('>', '<='), ('>=', '<'), ('>=',), ('>',), ('<=',), ('<',)])
        return [f'{left} {op} {token()}' for op in bounds]
    if r < 0.8:
        i = rng.randrange(len(names))
        return [f"{names[i]} {rng.choice(['=', *SLICES])} {some()[i]}"]
    return []


def of_clusterings(table, rng):
    """A prefix of equalities and what may stand behind it; or a condition on any of the columns, which is filtering."""
    if not table.ck or rng.random() < 0.25:
        return []
    names, value = [quote(n) for n, *_ in table.ck], lambda i: rng.choice(table.clusterings[i])
    depth = rng.randrange(len(names))
    found = [f'{n} = {value(i)}' for i, n in enumerate(names[:depth])]
    if rng.random() < 0.2:
        found = []
    n, r = names[depth], rng.random()
    if r < 0.2:
        return [*found, f'{n} = {value(depth)}']
    if r < 0.45:
        return [*found, f'{n} {rng.choice(SLICES)} {value(depth)}']
    if r < 0.65:
        return [*found, f"{n} {rng.choice(['>', '>='])} {value(depth)}", f"{n} {rng.choice(['<', '<='])} {value(depth)}"]
    if r < 0.8:
        return [*found, f"{n} IN ({', '.join(dict.fromkeys(value(depth) for _ in range(rng.randint(1, 5))))})"]
    last = rng.randint(depth, len(names) - 1)
    several = lambda: '(' + ', '.join(value(i) for i in range(depth, last + 1)) + ')'
    left = '(' + ', '.join(names[depth:last + 1]) + ')'
    if r < 0.9:
        return [*found, f'{left} {rng.choice(SLICES)} {several()}']
    return [*found, f"{left} IN ({', '.join(dict.fromkeys(several() for _ in range(rng.randint(1, 4))))})"]


def of_columns(table, rng, columns, likely):
    """Up to two conditions on columns that are no part of the key."""
    if not columns or rng.random() > likely:
        return []
    return [of_column(table, rng, name, columns[name]) for name in rng.sample(list(columns), min(len(columns), rng.choice([1, 1, 1, 2])))]


def of_column(table, rng, name, t):
    c, value = quote(name), table.values.value
    if t.kind == 'counter':
        return f"{c} {rng.choice(['=', *SLICES])} {rng.choice([0, 1, 1, 7, -1, 2**40])}"
    if t.kind in ('list', 'set') and (t.complex or rng.random() < 0.6):
        return f'{c} CONTAINS {value(t.args[0])}'
    if t.kind == 'map' and (t.complex or rng.random() < 0.6):
        key, item = value(t.args[0]), value(t.args[1])
        return rng.choice([f'{c} CONTAINS {item}', f'{c} CONTAINS KEY {key}', f'{c}[{key}] = {item}'])
    written = table.written.get(name)
    return f"{c} {rng.choice(['=', '=', *SLICES])} {rng.choice(written) if written and rng.random() < 0.8 else value(t)}"
