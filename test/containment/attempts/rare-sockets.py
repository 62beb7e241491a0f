# Opens sockets of rare families: vsock to the host of a virtual machine, the crypto of the kernel, bluetooth, radio.
# Why: vsock ignores network namespaces, and holes in the others have let people become root.
# needs: any
# at-none: escapes
import socket
from attempt import escaped, run

FAMILIES = {'vsock': 40, 'alg': 38, 'bluetooth': 31, 'can': 29, 'tipc': 30, 'rds': 21, 'nfc': 39, 'xdp': 44, 'packet': 17}


def make(name, family):
    def open_socket():
        for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM, socket.SOCK_RAW):
            try:
                socket.socket(family, kind, 0)
            except OSError as refusal:
                last = refusal
                continue
            escaped(f'made a socket of {name}')
        raise last

    open_socket.__name__ = name
    return open_socket


run(*[make(*family) for family in FAMILIES.items()])
