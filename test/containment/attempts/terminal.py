# Types into the terminal of somebody outside, and writes on it.
# Why: what is typed there runs in the shell of a person, as that person (TIOCSTI).
# needs: any
# at-none: escapes where facts.terminal
import fcntl
import os
from attempt import escaped, facts, run

TIOCSTI = 0x5412


def type_into(path):
    def push():
        if not path:
            raise OSError('there is no terminal outside')
        terminal = os.open(path, os.O_RDWR | os.O_NOCTTY)
        try:
            fcntl.ioctl(terminal, TIOCSTI, b'x')
        except OSError:
            os.write(terminal, b'hello')
            escaped('wrote on a terminal')
        escaped('typed into a terminal')

    push.__name__ = f'terminal {path}'
    return push


def own():
    # A terminal of its own: the kernel must refuse to type even there, as it could be the hub's.
    master, slave = os.openpty()
    fcntl.ioctl(slave, TIOCSTI, b'x')
    escaped('typed into a terminal of its own')


run(type_into(facts['terminal']), own)
