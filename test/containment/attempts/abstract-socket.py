# Connects to a unix socket that has a name but no file.
# Why: no mount hides these; only a network namespace does. Desktop services listen there.
# needs: any
# at-none: escapes
import socket
from attempt import facts, run, steal


def connect():
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(2)
    client.connect(f"\0{facts['abstract']}")
    steal(client.recv(1000), 'the socket')


def listed():
    with open('/proc/net/unix', 'rb') as file:
        if facts['abstract'].encode() in file.read():
            raise OSError('it is listed, but not reached')


run(connect, listed)
