# Debugs a child of its own.
# Why: a debugger can change the system calls of what it watches after a filter has looked at them.
# needs: any
# at-none: escapes
import os
import signal
from attempt import escaped, run, syscall

PTRACE_SEIZE = 0x4206


def child():
    sleeper = os.fork()
    if sleeper == 0:
        signal.pause()
    try:
        syscall('ptrace', PTRACE_SEIZE, sleeper, 0, 0)
        escaped('attached to a child')
    finally:
        os.kill(sleeper, signal.SIGKILL)


run(child)
