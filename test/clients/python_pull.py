"""The helper of examples/python against plain reads: the same rows in parallel, from memory and from Parquet, and through a connection
that breaks again and again.

    python python_pull.py URL FOLDER        FOLDER: what sluice.py --output has written of shop.orders
"""
import pathlib
import sys
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples' / 'python'))

import pyarrow as pa
import pyarrow.dataset
import sluice
from breaking_proxy import BreakingProxy

URL, FOLDER = sys.argv[1:]


def plain_read(**parameters):
    with urllib.request.urlopen(f'{URL}/v1/keyspaces/shop/tables/orders/rows?{sluice.query(**parameters)}') as response:
        return pa.ipc.open_stream(response).read_all().replace_schema_metadata(None)


def main():
    wanted = plain_read()
    for splits in (1, 8):
        assert sluice.read_table(URL, 'shop.orders', splits=splits).replace_schema_metadata(None).equals(wanted)
    some = plain_read(columns='items,total', where='items >= 3')
    assert 0 < some.num_rows < wanted.num_rows
    assert sluice.read_table(URL, 'shop.orders', columns='items,total', where='items >= 3').replace_schema_metadata(None).equals(some)
    written = pa.dataset.dataset(FOLDER).to_table().replace_schema_metadata(None)
    assert written.num_rows == wanted.num_rows and written.select(['total']).equals(wanted.select(['total']))

    proxy = BreakingProxy(urllib.parse.urlsplit(URL).port)
    found = sluice.read_table(proxy.url, 'shop.orders', threads=1, splits=1, batch_rows=100).replace_schema_metadata(None)
    assert found.combine_chunks().equals(wanted.combine_chunks())
    assert proxy.broken >= 3, proxy.broken
    try:
        sluice.read_table(URL, 'shop.nothing')
    except sluice.SluiceError as error:
        assert error.code == 'UNKNOWN_TABLE' and error.status == 404
    else:
        raise AssertionError('UNKNOWN_TABLE expected')
    with urllib.request.urlopen(f'{URL}/v1/exports') as response:
        assert response.read().strip() == b'{"exports":[]}', 'an export was left behind'
    print(f'shop.orders in parallel, as Parquet, and through {proxy.broken} broken connections: equal')


main()
