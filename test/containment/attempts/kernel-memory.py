# Reads the memory of the kernel and of the machine: /proc/kcore, /dev/mem, /dev/kmem, /dev/port.
# Why: everything of everybody is in there.
# needs: any
# at-none: escapes as root where /proc/kcore
import os
from attempt import escaped, run


def read(path):
    def look():
        file = os.open(path, os.O_RDONLY)
        if os.read(file, 4):
            escaped(f'read {path}')

    look.__name__ = path
    return look


run(*map(read, ['/proc/kcore', '/dev/mem', '/dev/kmem', '/dev/port', '/dev/crash']))
