# Moves the folders above protected files away and puts others in their place; swaps them at once with an exchange.
# Why: a file that cannot be written is worth nothing if the folder that it lies in can be replaced.
# needs: any
# at-none: escapes
import ctypes
import os
from attempt import escaped, facts, libc, run

os.chdir(facts['root'])
RENAME_EXCHANGE = 2
AT_FDCWD = -100


def away(name):
    def move():
        os.rename(name, f'{name}.away')
        os.rename(f'{name}.away', name)
        escaped(f'moved {name}')

    move.__name__ = f'move {name}'
    return move


def exchange(name):
    def swap():
        other = f'work/other-{os.getpid()}'
        (os.mkdir if os.path.isdir(name) else os.mknod)(other)
        for _ in range(2):
            if libc.renameat2(AT_FDCWD, other.encode(), AT_FDCWD, name.encode(), RENAME_EXCHANGE) == -1:
                raise OSError(ctypes.get_errno(), 'exchange')
        escaped(f'exchanged {name}')

    swap.__name__ = f'exchange {name}'
    return swap


NAMES = ['.git', '.git/hooks', '.git/config', '.vscode', 'tool-hub.yaml', 'guarded', 'guarded/rules']
run(*[way(name) for name in NAMES for way in (away, exchange)])
