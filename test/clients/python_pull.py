"""The helper of examples/python against plain reads: the same rows in parallel, from memory and from Parquet, and through a connection
that breaks again and again.

    python python_pull.py URL FOLDER        FOLDER: what sluice.py --output has written of shop.orders
"""
import pathlib
import socket
import sys
import threading
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'examples' / 'python'))

import pyarrow as pa
import pyarrow.dataset
import sluice

URL, FOLDER = sys.argv[1:]


def plain_read(**parameters):
    with urllib.request.urlopen(f'{URL}/v1/keyspaces/shop/tables/orders/rows?{sluice.query(**parameters)}') as response:
        return pa.ipc.open_stream(response).read_all().replace_schema_metadata(None)


class BreakingProxy:
    """Passes connections on, and breaks each one that carries rows after some bytes more than the one before it."""

    def __init__(self, port):
        self.port = port
        self.broken = 0
        self.listener = socket.create_server(('127.0.0.1', 0))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(('127.0.0.1', self.port))
        with client, server:
            request = client.recv(65536)
            server.sendall(request)
            allowed = 20_000 + 10_000 * self.broken if request.startswith(b'GET /v1/tickets/') else None
            if allowed is None:
                server.settimeout(5)
                client.settimeout(0.2)
                while True:  # a body may follow its header
                    try:
                        more = client.recv(65536)
                    except TimeoutError:
                        break
                    if not more:
                        break
                    server.sendall(more)
            while part := server.recv(4096):
                if allowed is not None:
                    allowed -= len(part)
                    if allowed < 0:
                        self.broken += 1
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0' if self.broken % 2 else b'\0' * 8)
                        return
                client.sendall(part)


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
    through = f'http://127.0.0.1:{proxy.listener.getsockname()[1]}'
    found = sluice.read_table(through, 'shop.orders', threads=1, splits=1, batch_rows=100).replace_schema_metadata(None)
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
