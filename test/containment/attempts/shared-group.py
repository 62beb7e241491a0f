# Looks whether it shares a process group or a session with somebody outside: such a leader has the number 0 in a sandbox.
# Why: `kill 0` reaches all of a group, over the borders of process spaces; and a session shares its terminal.
# needs: any
# at-none: held because every command leads a group of its own, at every level
import os
from attempt import escaped, run


def group():
    if os.getpgid(0) == 0:
        escaped('the group is led from outside')


def session():
    if os.getsid(0) == 0:
        escaped('the session is led from outside')


def terminal():
    os.close(os.open('/dev/tty', os.O_RDWR))
    escaped('it has a terminal')


run(group, session, terminal)
