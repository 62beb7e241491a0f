# Slows a process outside down, lifts itself over all others, and saves itself from the end when memory is short.
# Why: without harm to any file, a command could starve the machine and let others be killed in its place.
# needs: any
# at-none: escapes
import os
import resource
from attempt import escaped, facts, run


def slow_down():
    os.setpriority(os.PRIO_PROCESS, facts['outsidePid'], 1)
    escaped('slowed a process down')


def bound():
    resource.prlimit(facts['outsidePid'], resource.RLIMIT_CORE, (0, 0))
    escaped('changed the limits of a process')


def lift():
    os.setpriority(os.PRIO_PROCESS, 0, -5)
    escaped('lifted itself')


def real_time():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    escaped('runs in real time')


def never_killed():
    with open('/proc/self/oom_score_adj', 'w') as file:
        file.write('-900')
    escaped('is killed last')


run(slow_down, bound, lift, real_time, never_killed)
