# Computes for longer than the limit of processor time, and ignores the warning.
# Why: a command that never ends takes a processor from everybody.
# needs: any
# killed: held
# at-none: escapes
import signal
import time
from attempt import escaped, facts, run

limit = facts['limits']['cpuMs'] / 1000
signal.signal(signal.SIGXCPU, signal.SIG_IGN)


def compute():
    while time.process_time() < limit + 0.4:
        sum(range(10_000))
    escaped(f'{time.process_time():.1f} s, the limit is {limit} s')


run(compute)
