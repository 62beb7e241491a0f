# Reads a key from the session keyring that it has inherited from the hub, and lists the keys of the user.
# Why: keyrings belong to no namespace; tickets and disk keys lie there.
# needs: any
# at-none: escapes where /proc/keys
import ctypes
from attempt import escaped, facts, run, steal, syscall

SEARCH, READ, SESSION, USER = 10, 11, -3, -4


def find(ring):
    def read():
        key = syscall('keyctl', SEARCH, ring, b'user', facts['keyName'].encode(), 0)
        value = ctypes.create_string_buffer(1000)
        syscall('keyctl', READ, key, value, 1000, 0)
        steal(value.raw, 'the key')

    read.__name__ = f'search ring {ring}'
    return read


def ask():
    key = syscall('request_key', b'user', facts['keyName'].encode(), None, 0)
    escaped(f'got key {key}')


def listed():
    with open('/proc/keys') as file:
        if facts['keyName'] in file.read():
            escaped('the key is listed')


def add():
    syscall('add_key', b'user', b'left-by-command', b'x', 1, SESSION)
    escaped('left a key for others')


run(find(SESSION), find(USER), ask, listed, add)
