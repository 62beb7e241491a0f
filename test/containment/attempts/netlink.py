# Speaks to parts of the kernel over netlink, and asks for the network interfaces of the machine.
# Why: device events, audit and firewall are not bound to a namespace, and much rarely tested code is behind them.
# needs: any
# at-none: escapes
import socket
from attempt import escaped, run

PROTOCOLS = {'firewall': 12, 'audit': 9, 'device events': 15, 'generic': 16, 'xfrm': 6, 'crypto': 21}


def talk(name, protocol):
    def open_socket():
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
        escaped(f'opened netlink for {name}')

    open_socket.__name__ = name
    return open_socket


def interfaces():
    others = [name for _, name in socket.if_nameindex() if name != 'lo']
    if others:
        escaped(f'saw {others}')


run(interfaces, *[talk(*protocol) for protocol in PROTOCOLS.items()])
