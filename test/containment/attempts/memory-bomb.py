# Takes more memory than the limit, and uses it.
# Why: when memory is out, the machine ends programs of others.
# needs: any
# killed: held
# at-none: escapes
import mmap
from attempt import escaped, facts, run

limit = facts['limits']['memoryBytes']


def take():
    pieces = []
    while len(pieces) << 22 < limit + (8 << 20):
        piece = mmap.mmap(-1, 1 << 22, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, 1 << 22, 4096):
            piece[page] = 1
        pieces.append(piece)
    escaped(f'{len(pieces) << 22} bytes, the limit is {limit}')


run(take)
