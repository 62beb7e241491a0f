# Sends a datagram to a server on this machine and waits for its answer.
# Why: filters that think of connections only forget UDP.
# needs: any
# at-none: escapes
import socket
from attempt import facts, run, steal


def ask():
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(0.5)
    client.connect(('127.0.0.1', facts['udpPort']))
    client.send(b'question')
    steal(client.recv(1000), 'the answer')


run(ask)
