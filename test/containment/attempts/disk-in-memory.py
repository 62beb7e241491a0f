# Fills /tmp, /dev/shm, /run and every other place for files that is memory.
# Why: such files are memory of the machine, and count for nobody.
# needs: any
# killed: held
# at-none: escapes
import os
from attempt import escaped, facts, run

limit = facts['limits']['memoryBytes']
PIECE = bytes(1 << 20)


def fill():
    written, made = 0, []
    try:
        for folder in ['/tmp', '/dev/shm', '/run', os.environ.get('HOME', '/'), '/dev', '/', '/proc', '/run/home']:
            for number in range(200):
                path = f'{folder}/containment-fill-{os.getpid()}-{number}'
                try:
                    file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
                    made.append(path)
                    written += os.write(file, PIECE)
                    os.close(file)
                except OSError:
                    break
                if written > limit:
                    escaped(f'{written} bytes, the limit is {limit}')
    finally:
        for path in made:
            os.unlink(path)
    raise OSError(f'{written} bytes, then all is full')


run(fill)
