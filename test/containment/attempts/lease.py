# Takes a lease on a file that it may only read: whoever opens the file for writing waits until the lease ends.
# Why: the hub, editors and git would stop for up to 45 seconds, as often as a command likes.
# needs: any
# at-none: escapes
import fcntl
import os
from attempt import escaped, facts, run

F_SETDELEG = 1040


def lease(path, flags, command, kind):
    def take():
        file = os.open(path, flags)
        try:
            fcntl.fcntl(file, command, kind)
        finally:
            os.close(file)
        escaped(f'held a lease on {path}')

    take.__name__ = f'{os.path.basename(path)} by {command}'
    return take


root = facts['root']
run(
    lease(f'{root}/.git/config', os.O_RDONLY, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    lease('/proc/self/exe', os.O_RDONLY, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    lease(f'{root}/work/readme', os.O_RDONLY, fcntl.F_SETLEASE, fcntl.F_RDLCK),
    lease(root, os.O_RDONLY | os.O_DIRECTORY, F_SETDELEG, fcntl.F_RDLCK),
)
