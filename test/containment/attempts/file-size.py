# Writes a file in the workspace that is larger than the limit, at once and by a hole.
# Why: one file can fill the disk of everybody.
# needs: any
# at-none: escapes
import os
import signal
from attempt import escaped, facts, run

limit = facts['limits']['fileBytes']
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def write():
    file = os.open('large', os.O_CREAT | os.O_RDWR | os.O_TRUNC)
    try:
        while os.fstat(file).st_size <= limit:
            os.write(file, bytes(1 << 20))
        escaped(f'{os.fstat(file).st_size} bytes, the limit is {limit}')
    finally:
        os.ftruncate(file, 0)


def stretch():
    file = os.open('hole', os.O_CREAT | os.O_RDWR)
    os.ftruncate(file, limit + 1)
    escaped('a hole that is too large')


def ahead():
    file = os.open('ahead', os.O_CREAT | os.O_RDWR)
    os.posix_fallocate(file, 0, limit + 4096)
    escaped('room that is too large')


run(write, stretch, ahead)
