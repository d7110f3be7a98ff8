"""A proxy on this machine that keeps what it is asked for, and breaks each connection that carries rows, `later` bytes later than the one
before it: by a reset and by an end, by turns."""
import re
import socket
import threading

CARRIES_ROWS = re.compile(r'GET /v1/(tickets/|\S+/rows)')
RESET = b'\1\0\0\0\0\0\0\0'
END = b'\0' * 8


class BreakingProxy:
    def __init__(self, port, breaks=True, later=10_000):
        self.port = port
        self.breaks = breaks
        self.later = later
        self.broken = 0
        self.requests = []  # request line and header of each
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        server = socket.create_connection(('127.0.0.1', self.port))
        last = ['']
        requests = threading.Thread(target=self.pass_requests, args=(client, server, last), daemon=True)
        requests.start()
        with client, server:
            try:
                self.pass_answers(client, server, last)
                client.shutdown(socket.SHUT_RD)  # wakes the thread up that waits for requests: until then nothing is closed
            except OSError:
                pass
            requests.join()

    def pass_answers(self, client, server, last):
        allowed = 20_000 + self.later * self.broken
        while part := server.recv(4096):
            if self.breaks and CARRIES_ROWS.match(last[0]):
                allowed -= len(part)
                if allowed < 0:
                    self.broken += 1
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET if self.broken % 2 else END)
                    return
            client.sendall(part)

    def pass_requests(self, client, server, last):
        try:
            while part := client.recv(65536):
                if re.match(rb'[A-Z]+ /\S* HTTP/', part):
                    last[0] = part.decode('latin1')
                    self.requests.append(last[0])
                server.sendall(part)
            server.shutdown(socket.SHUT_WR)
        except OSError:
            return
