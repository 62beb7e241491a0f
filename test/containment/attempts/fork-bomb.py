# Starts processes until it is stopped; at most twenty more than the limit, and all of them only wait.
# Why: a full process table stops everybody on the machine.
# needs: any
# killed: held
# at-none: escapes
import os
import signal
from attempt import escaped, facts, run

limit = facts['limits']['processes']


def fork():
    children = []
    try:
        while len(children) < limit + 20:
            child = os.fork()
            if child == 0:
                while True:
                    signal.pause()
            children.append(child)
    except OSError as refusal:
        if len(children) < limit:
            raise OSError(f'{len(children)} processes, then {refusal}')
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    escaped(f'{len(children)} processes, the limit is {limit}')


run(fork)
