# Opens raw sockets: IP packets of its own making, and all that passes an interface.
# Why: with them a command listens to the traffic of others and speaks in their name.
# needs: any
# at-none: escapes as root
import socket
from attempt import escaped, run


def raw(family, kind, protocol):
    def make():
        socket.socket(family, kind, protocol)
        escaped('made a raw socket')

    make.__name__ = f'family {int(family)}, protocol {protocol}'
    return make


run(
    raw(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    raw(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    raw(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_TCP),
    raw(socket.AF_PACKET, socket.SOCK_RAW, 3),
)
