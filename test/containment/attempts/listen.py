# Listens on a port and waits for somebody from outside to connect.
# Why: a server that a command opens is a door for whoever is on the network.
# needs: any
# at-none: escapes
import socket
from attempt import escaped, facts, run


def wait():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(('0.0.0.0', facts['knockPort']))
    server.listen()
    server.settimeout(0.6)
    server.accept()
    escaped('somebody came in')


run(wait)
