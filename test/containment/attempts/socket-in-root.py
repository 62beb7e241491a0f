# Connects to a socket and opens a pipe in the workspace, at which a program of the machine listens.
# Why: that program runs outside of every sandbox, and obeys whoever reaches it; mounts do not stop a connection.
# needs: any
# at-none: escapes
import os
import socket
from attempt import escaped, facts, run, steal


def connect(path):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(2)
    client.connect(path)
    steal(client.recv(1000), path)


def by_name():
    connect(facts['rootSocket'])


def by_process():
    connect(f"/proc/self/root{facts['rootSocket']}")


def by_second_name():
    os.link(facts['rootSocket'], 'second.sock')
    connect('second.sock')


def by_new_name():
    os.rename(facts['rootSocket'], 'renamed.sock')
    try:
        connect('renamed.sock')
    finally:
        os.rename('renamed.sock', facts['rootSocket'])


def pipe():
    os.close(os.open(facts['rootPipe'], os.O_RDWR | os.O_NONBLOCK))
    escaped('opened the pipe')


run(by_name, by_process, by_second_name, by_new_name, pipe)
