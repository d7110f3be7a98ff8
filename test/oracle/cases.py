#!/usr/bin/env python3
"""SSTables for test/cases: one table for each public bug report of another reader, with what a real Cassandra answers over it.

  cases.py --version 5.0.8 --format da --out OUT/cases-da --work DIR [--port 9542]

The same machinery and the same output as golden.py; pack with test/corpus/pack-golden.sh OUT. Each generator is named after the
file in test/cases that reads its table; a `yield` is a flush, so that what follows lies in another SSTable.
"""
import random
import shutil
import pathlib
import sys
import time

from golden import arguments, hexs, run

KS = 'cases'
T1, T2, T3 = (f'USING TIMESTAMP {n}' for n in (1000, 2000, 3000))


def a_row_lives_by_its_key_alone(db):
    t = f'{KS}.key_alone'
    db.create(t, 'pk int, ck int, a int, b text, s set<int>, PRIMARY KEY (pk, ck)')
    db(f'INSERT INTO {t} (pk, ck) VALUES (1, 1)')
    db(f'INSERT INTO {t} (pk, ck, a, b) VALUES (1, 2, null, null)')
    db(f"INSERT INTO {t} (pk, ck, a, b) VALUES (1, 3, 3, 'three')")
    db(f"UPDATE {t} SET a = 4, b = 'four', s = {{4}} WHERE pk = 1 AND ck = 4")
    db(f'UPDATE {t} SET a = 5 WHERE pk = 1 AND ck = 5')
    db(f"UPDATE {t} USING TTL 1 SET b = 'gone' WHERE pk = 1 AND ck = 6")
    db(f"UPDATE {t} SET b = 'alive' WHERE pk = 1 AND ck = 7")
    yield
    db(f'DELETE a, b, s FROM {t} WHERE pk = 1 AND ck = 3')
    db(f'DELETE a, b, s FROM {t} WHERE pk = 1 AND ck = 4')
    db(f'DELETE a FROM {t} WHERE pk = 1 AND ck = 5')
    yield


def a_deletion_in_another_sstable_takes_the_row_marker(db):
    t = f'{KS}.phantoms'
    db.create(t, 'pk int, ck int, a int, PRIMARY KEY (pk, ck)')
    for pk in range(1, 8):
        for ck in range(3):
            db(f'INSERT INTO {t} (pk, ck, a) VALUES ({pk}, {ck}, {ck}) {T1}')
    yield
    db(f'DELETE FROM {t} {T2} WHERE pk = 1')
    db(f'DELETE FROM {t} {T2} WHERE pk = 2 AND ck >= 1')
    db(f'DELETE FROM {t} {T2} WHERE pk = 3 AND ck = 1')
    db(f'DELETE FROM {t} {T1} WHERE pk = 4')               # as old as the rows: it wins
    db(f'DELETE FROM {t} {T1} WHERE pk = 5 AND ck = 1')
    db(f'DELETE FROM {t} USING TIMESTAMP 999 WHERE pk = 6')  # older: nothing goes
    db(f'DELETE FROM {t} {T2} WHERE pk = 7')
    yield
    db(f'UPDATE {t} {T3} SET a = 7 WHERE pk = 7 AND ck = 1')  # a cell over the deletion, without a marker
    yield


def a_partition_tombstone_without_rows_is_merged(db):
    t = f'{KS}.lone_tombstone'
    db.create(t, 'pk int, ck int, a int, PRIMARY KEY (pk, ck)')
    for pk in (1, 2):
        for ck in range(10):
            db(f'INSERT INTO {t} (pk, ck, a) VALUES ({pk}, {ck}, {ck}) USING TIMESTAMP 1609459200000000')
    yield
    db(f'DELETE FROM {t} USING TIMESTAMP 1609545600000000 WHERE pk = 1')
    yield


def equal_timestamps_have_one_winner_in_any_order(db):
    t = f'{KS}.equal_timestamps'
    db.create(t, 'pk int, ck text, v text, PRIMARY KEY (pk, ck)')
    writes = {
        'values': ("INSERT INTO {t} (pk, ck, v) VALUES ({pk}, 'values', 'a') {T1}", "INSERT INTO {t} (pk, ck, v) VALUES ({pk}, 'values', 'b') {T1}"),
        'ttl': ("UPDATE {t} {T1} SET v = 'z' WHERE pk = {pk} AND ck = 'ttl'", "UPDATE {t} {T1} AND TTL 600000000 SET v = 'a' WHERE pk = {pk} AND ck = 'ttl'"),
        'ttls': ("UPDATE {t} {T1} AND TTL 100000000 SET v = 'z' WHERE pk = {pk} AND ck = 'ttls'", "UPDATE {t} {T1} AND TTL 200000000 SET v = 'a' WHERE pk = {pk} AND ck = 'ttls'"),
        'deleted': ("UPDATE {t} {T1} AND TTL 600000000 SET v = 'z' WHERE pk = {pk} AND ck = 'deleted'", "DELETE v FROM {t} {T1} WHERE pk = {pk} AND ck = 'deleted'"),
        'higher': ("UPDATE {t} {T2} SET v = 'a' WHERE pk = {pk} AND ck = 'higher'", "UPDATE {t} {T1} SET v = 'z' WHERE pk = {pk} AND ck = 'higher'"),
        'high byte': ("INSERT INTO {t} (pk, ck, v) VALUES ({pk}, 'high byte', 'z') {T1}", "INSERT INTO {t} (pk, ck, v) VALUES ({pk}, 'high byte', 'é') {T1}"),
    }
    for first, second in ((1, 2), (2, 1)):  # the partition that gets the first of each pair, and the one that gets the second
        for one, other in writes.values():
            db(one.format(t=t, pk=first, T1=T1, T2=T2))
            db(other.format(t=t, pk=second, T1=T1, T2=T2))
        yield


def one_now_holds_for_a_whole_export(db):
    t = f'{KS}.one_now'
    db.create(t, 'pk int, ck int, v text, PRIMARY KEY (pk, ck)')
    for ck in range(5):
        db(f"INSERT INTO {t} (pk, ck, v) VALUES (1, {ck}, 'expires') USING TTL 86400")
        db(f"INSERT INTO {t} (pk, ck, v) VALUES (2, {ck}, 'stays')")
    yield
    for ck in range(5):
        db(f"UPDATE {t} USING TTL 172800 SET v = 'later' WHERE pk = 1 AND ck = {ck}")
    yield


def ttls_reach_beyond_2038(db):
    t = f'{KS}.beyond_2038'
    db.create(t, 'pk int PRIMARY KEY, a int, b int')
    db(f'INSERT INTO {t} (pk, a, b) VALUES (1, 1, 1) USING TTL 630720000')   # 20 years: capped to 2038 before 5.0
    db(f'INSERT INTO {t} (pk, a) VALUES (2, 2)')
    db(f'UPDATE {t} USING TTL 630720000 SET b = 2 WHERE pk = 2')
    yield


def cells_inherit_the_ttl_of_their_row(db):
    t = f'{KS}.row_ttl'
    db.create(t, 'pk int, ck int, a int, b text, s set<int>, PRIMARY KEY (pk, ck)')
    db(f"INSERT INTO {t} (pk, ck, a, b, s) VALUES (1, 1, 1, 'one', {{1}}) USING TTL 1")
    db(f"INSERT INTO {t} (pk, ck, a, b, s) VALUES (1, 2, 2, 'two', {{2}}) USING TTL 600000000")
    db(f"INSERT INTO {t} (pk, ck, a, b, s) VALUES (1, 3, 3, 'three', {{3}})")
    yield


def a_boundary_closes_one_range_and_opens_another(db):
    t = f'{KS}.boundary'
    db.create(t, 'pk int, ck int, v int, PRIMARY KEY (pk, ck)')
    for ck in range(12):
        db(f'INSERT INTO {t} (pk, ck, v) VALUES (1, {ck}, 1500) USING TIMESTAMP 1500')
        db(f'INSERT INTO {t} (pk, ck, v) VALUES (2, {ck}, 2500) USING TIMESTAMP 2500')
        db(f'INSERT INTO {t} (pk, ck, v) VALUES (3, {ck}, 3500) USING TIMESTAMP 3500')
    yield
    for pk in (1, 2, 3):
        db(f'DELETE FROM {t} {T2} WHERE pk = {pk} AND ck >= 1 AND ck < 5')
        db(f'DELETE FROM {t} {T3} WHERE pk = {pk} AND ck >= 5 AND ck < 9')
    yield


def range_tombstones_may_have_an_open_end(db):
    t = f'{KS}.open_end'
    db.create(t, 'pk int, ck int, v int, PRIMARY KEY (pk, ck)')
    for pk in (1, 2, 3):
        for ck in range(10):
            db(f'INSERT INTO {t} (pk, ck, v) VALUES ({pk}, {ck}, {ck}) {T1}')
    yield
    db(f'DELETE FROM {t} {T2} WHERE pk = 1 AND ck <= 2')
    db(f'DELETE FROM {t} {T2} WHERE pk = 2 AND ck > 5')
    db(f'DELETE FROM {t} {T2} WHERE pk = 3 AND ck <= 2')
    db(f'DELETE FROM {t} {T2} WHERE pk = 3 AND ck > 5')
    yield


def clustering_bounds_of_old_files_are_not_believed(db):
    t = f'{KS}.min_max'
    db.create(t, 'k int, c1 int, c2 int, c3 int, v int, PRIMARY KEY (k, c1, c2, c3)')
    for c1 in range(5):
        db(f'INSERT INTO {t} (k, c1, c2, c3, v) VALUES (100, {c1}, 1, 1, {c1}) {T1}')
    yield
    db(f'INSERT INTO {t} (k, c1, c2, c3, v) VALUES (100, 4, 4, 4, 4) {T2}')
    db(f'DELETE FROM {t} {T2} WHERE k = 100 AND c1 < 3')
    yield


def a_live_complex_deletion_is_no_deletion(db):
    t = f'{KS}.live_complex'
    db.create(t, 'pk int PRIMARY KEY, l list<int>, m map<text, int>, s set<int>, v int')
    for pk in (1, 2, 3):
        db(f"INSERT INTO {t} (pk, l, m, s, v) VALUES ({pk}, [1], {{'a': 1}}, {{1}}, 1) {T1}")
    yield
    # One collection is replaced, another added to: the row has a deletion for each, and one of them is "live".
    db(f"UPDATE {t} {T2} SET l = [2], m['b'] = 2, s = s + {{2}} WHERE pk = 1")
    db(f"UPDATE {t} {T2} SET m = {{'z': 9}}, l = l + [3] WHERE pk = 2")
    db(f'UPDATE {t} {T2} SET s = null, v = 2 WHERE pk = 3')
    yield


def a_dropped_column_does_not_disturb_the_others(db):
    t = f'{KS}.dropped'
    db.create(t, 'pk int, ck int, a int, b text static, c list<int>, d text, e int, PRIMARY KEY (pk, ck)')
    for ck in range(5):
        db(f"INSERT INTO {t} (pk, ck, a, b, c, d, e) VALUES (1, {ck}, {ck}, 'static', [{ck}], 'd', {-ck})", real=True)
    db(f"UPDATE {t} SET d = 'alone' WHERE pk = 1 AND ck = 9", real=True)
    yield
    for column in ('b', 'c', 'd'):
        db(f'ALTER TABLE {t} DROP {column}')
    db(f'INSERT INTO {t} (pk, ck, a, e) VALUES (1, 20, 20, -20)', real=True)
    yield


def a_column_added_again_does_not_show_its_past(db):
    t = f'{KS}.readded'
    db.create(t, 'pk int, ck int, a int, b text, m map<text, int>, PRIMARY KEY (pk, ck)')
    for ck in range(5):
        db(f"INSERT INTO {t} (pk, ck, a, b, m) VALUES (1, {ck}, {ck}, 'before', {{'before': 1}})", real=True)
    yield
    db(f'ALTER TABLE {t} DROP b')
    db(f'ALTER TABLE {t} DROP m')
    yield
    time.sleep(1)
    db(f'ALTER TABLE {t} ADD b text')
    db(f'ALTER TABLE {t} ADD m map<text, int>')
    for ck in range(3, 8):
        db(f"UPDATE {t} SET b = 'after', m['after'] = 1 WHERE pk = 1 AND ck = {ck}", real=True)
    db(f"UPDATE {t} USING TIMESTAMP 1000 SET b = 'late, with an old time' WHERE pk = 1 AND ck = 1")
    yield


def nested_user_types_hide_no_column(db):
    t = f'{KS}.user_types'
    db(f'CREATE TYPE {KS}.inner_type (x int, y frozen<list<text>>)')
    db(f'CREATE TYPE {KS}.outer_type (name text, one frozen<inner_type>, many frozen<map<text, frozen<inner_type>>>)')
    db.create(t, 'pk int PRIMARY KEY, a frozen<outer_type>, b text, c list<frozen<outer_type>>, d frozen<tuple<int, frozen<inner_type>>>, z text')
    one = "{x: 1, y: ['p', 'q']}"
    outer = f"{{name: 'n', one: {one}, many: {{'k': {one}}}}}"
    db(f"INSERT INTO {t} (pk, a, b, c, d, z) VALUES (1, {outer}, 'b', [{outer}], (7, {one}), 'z')")
    db(f"INSERT INTO {t} (pk, a, b, c, d, z) VALUES (2, {{name: 'only'}}, 'b', [], (7, null), 'z')")
    yield


def descending_clusterings_merge_in_their_order(db):
    t = f'{KS}.descending'
    db.create(t, 'pk int, ck int, c2 text, v int, PRIMARY KEY (pk, ck, c2)', 'CLUSTERING ORDER BY (ck DESC, c2 ASC)')
    for ck in range(0, 20, 2):
        db(f"INSERT INTO {t} (pk, ck, c2, v) VALUES (1, {ck}, 'even', 1) {T1}")
    yield
    for ck in range(1, 20, 2):
        db(f"INSERT INTO {t} (pk, ck, c2, v) VALUES (1, {ck}, 'odd', 2) {T1}")
    db(f"INSERT INTO {t} (pk, ck, c2, v) VALUES (1, 10, 'even', 3) {T2}")
    db(f'DELETE FROM {t} {T2} WHERE pk = 1 AND ck > 15')
    db(f'DELETE FROM {t} {T2} WHERE pk = 1 AND ck >= 4 AND ck < 7')
    yield


def names_keep_their_case_and_quotes(db):
    t = f'{KS}."Order"'
    db.create(t, '"token" int, "Select" text, "ORDER" int, "order" int, "with space" text, PRIMARY KEY ("token", "Select")')
    db(f"""INSERT INTO {t} ("token", "Select", "ORDER", "order", "with space") VALUES (1, 's', 2, 3, 'w')""")
    yield


def chunks_that_do_not_compress_are_stored_raw(db):
    t = f'{KS}.raw_chunks'
    ratio = ", 'min_compress_ratio': '1.1'" if db.major >= 4 else ''
    db.create(t, 'pk int, ck int, b blob, w text, PRIMARY KEY (pk, ck)', f"compression = {{'class': 'LZ4Compressor', 'chunk_length_in_kb': '4'{ratio}}}")
    rng = random.Random(17)
    for ck in range(24):  # noise over several chunks, then chunks of one letter
        db(f"INSERT INTO {t} (pk, ck, b, w) VALUES (1, {ck}, {hexs(rng, 10000) if ck % 3 else '0x00'}, '{'w' * 9000}')")
    yield


def rows_behind_a_range_tombstone_keep_their_place(db):
    t = f'{KS}.marker_frame'
    db.create(t, 'pk int, c1 text, c2 int, v text, PRIMARY KEY (pk, c1, c2)')
    for c1 in ('a', 'b', 'c'):
        for c2 in range(4):
            db(f"INSERT INTO {t} (pk, c1, c2, v) VALUES (1, '{c1}', {c2}, '{c1}{c2}') {T2}")
    db(f"DELETE FROM {t} {T1} WHERE pk = 1 AND c1 = 'a' AND c2 > 1")   # older: all rows stay, its markers lie among them
    db(f"DELETE FROM {t} {T1} WHERE pk = 1 AND c1 > 'a' AND c1 < 'c'")
    db(f"DELETE FROM {t} {T3} WHERE pk = 1 AND c1 = 'b' AND c2 >= 1 AND c2 < 3")
    yield


def keys_are_found_with_any_sampling_interval(db):
    t = f'{KS}.sampling'
    db.create(t, 'pk int PRIMARY KEY, v int', 'min_index_interval = 256', 'max_index_interval = 512')
    for pk in range(130):
        db(f'INSERT INTO {t} (pk, v) VALUES ({pk}, {pk * 7})')
    yield


def an_empty_value_is_not_null(db):
    t = f'{KS}.empty_values'
    db.create(t, 'pk int PRIMARY KEY, i int, u uuid, t text, a ascii, b blob, m map<text, text>, l list<text>, f frozen<list<int>>')
    db(f"INSERT INTO {t} (pk, i, u, t, a, b, m, l, f) VALUES (1, blobAsInt(0x), blobAsUuid(0x), '', '', 0x, {{'': ''}}, [''], [])")
    db(f'INSERT INTO {t} (pk, i, u, t, a, b, m, l, f) VALUES (2, null, null, null, null, null, {{}}, [], null)')
    yield


def counters_add_up_over_sstables(db):
    t = f'{KS}.counted'
    db.create(t, 'pk int PRIMARY KEY, n counter, m counter')
    for _ in range(3):
        db(f'UPDATE {t} SET n = n + 10, m = m - 1 WHERE pk = 1')
        db(f'UPDATE {t} SET n = n + 4611686018427387904 WHERE pk = 2')
        db(f'UPDATE {t} SET n = n + 1 WHERE pk = 3')
        yield
    db(f'DELETE FROM {t} WHERE pk = 3')
    db(f'DELETE m FROM {t} WHERE pk = 1')
    yield


def numbers_keep_all_their_digits(db):
    t = f'{KS}.large_numbers'
    db.create(t, 'pk int PRIMARY KEY, v varint, d decimal, b bigint, x duration')
    digits = '1234567890' * 6
    db(f'INSERT INTO {t} (pk, v, d, b, x) VALUES (1, {digits}, {digits}.{digits}, 9223372036854775807, 1mo2d3ns)')
    db(f'INSERT INTO {t} (pk, v, d, b, x) VALUES (2, -{digits}, 1.000, -9223372036854775808, -14mo3d9223372036854775807ns)')
    db(f'INSERT INTO {t} (pk, v, d, b, x) VALUES (3, 0, 1E-50, 9007199254740993, 0s)')
    db(f'INSERT INTO {t} (pk, v, d, b, x) VALUES (4, -170141183460469231731687303715884105729, -0.10, 0, 1ns)')
    yield


TABLES = [f for f in list(globals().values()) if callable(f) and getattr(f, '__module__', '') == __name__]

if __name__ == '__main__':
    args = arguments()
    only = set(filter(None, args.only.split(',')))
    status = run(args, [KS], [t for t in TABLES if not only or t.__name__ in only])
    shutil.rmtree(pathlib.Path(args.out) / 'data' / 'system')  # system_schema is enough to read them
    sys.exit(status)
