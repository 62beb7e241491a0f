# Takes more memory than the limit with several processes, none of which has more than half of it.
# Why: a limit of each process says nothing about all of them together.
# needs: any
# machine: cgroups
# killed: held
# at-none: escapes
import mmap
import os
import signal
from attempt import escaped, facts, run

limit = facts['limits']['memoryBytes']
half = limit // 2 // 4096 * 4096


def take():
    reader, writer = os.pipe()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            piece = mmap.mmap(-1, half, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            for page in range(0, half, 4096):
                piece[page] = 1
            os.write(writer, b'.')
            while True:
                signal.pause()
        children.append(child)
    os.close(writer)
    # Whoever is killed never says that it has its part.
    done = 0
    while done < 3 and not any(os.waitpid(child, os.WNOHANG)[0] for child in children):
        os.set_blocking(reader, False)
        try:
            done += len(os.read(reader, 3))
        except BlockingIOError:
            os.sched_yield()
    for child in children:
        try:
            os.kill(child, signal.SIGKILL)
        except ProcessLookupError:
            pass
    if done < 3:
        raise OSError(f'only {done} of 3 got their part')
    escaped(f'{3 * half} bytes in all, the limit is {limit}')


run(take)
