# Ends a process outside: by its number, by its group, by a descriptor of it.
# Why: as the same user a command may end everything the user runs, unless it cannot name it.
# needs: any
# at-none: escapes
import os
import signal
from attempt import escaped, facts, run, syscall

victim = facts['victimPid']


def by_descriptor():
    syscall('pidfd_send_signal', syscall('pidfd_open', victim, 0), signal.SIGCONT, None, 0)
    escaped('signalled it by a descriptor')


def by_group():
    os.killpg(victim, signal.SIGCONT)
    escaped('signalled its group')


def by_number():
    os.kill(victim, signal.SIGKILL)
    escaped('killed it')


run(by_descriptor, by_group, by_number)
