# Connects to a unix socket outside of the roots, by its name and by a link in the workspace.
# Why: docker, agents for keys and many services listen on such sockets, and trust whoever reaches them.
# needs: any
# at-none: escapes
import os
import socket
from attempt import facts, run, steal


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(2)
    client.connect(path)
    steal(client.recv(1000), path)


def by_name():
    connect(facts['socket'])


def by_link():
    os.symlink(facts['socket'], 'socket')
    connect('socket')


run(by_name, by_link)
