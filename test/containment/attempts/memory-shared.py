# Takes more memory than the limit as files without a name and as shared memory.
# Why: such memory belongs to no process, so limits of processes do not count it.
# needs: any
# machine: cgroups
# killed: held
# at-none: escapes
import mmap
import os
from attempt import escaped, facts, run

limit = facts['limits']['memoryBytes']


def files():
    taken = 0
    while taken < limit + (8 << 20):
        file = os.memfd_create('x')
        taken += os.write(file, bytes(2 << 20))
    escaped(f'{taken} bytes in files without a name, the limit is {limit}')


def shared():
    piece = mmap.mmap(-1, limit + (8 << 20), mmap.MAP_SHARED | mmap.MAP_ANONYMOUS)
    for page in range(0, len(piece), 4096):
        piece[page] = 1
    escaped(f'{len(piece)} bytes of shared memory, the limit is {limit}')


run(files, shared)
