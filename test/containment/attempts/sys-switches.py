# Opens switches in /sys for writing: the program for device events, the release agents of cgroups.
# Why: a release agent is a program that the machine starts as root, outside; it is the classic way out of a container.
# needs: any
# at-none: escapes as root where /sys/fs/cgroup
import glob
import os
from attempt import escaped, run


def open_switches():
    paths = ['/sys/kernel/uevent_helper', '/sys/fs/cgroup/cgroup.procs', '/sys/kernel/mm/ksm/run']
    for path in paths + glob.glob('/sys/fs/cgroup/*/release_agent') + glob.glob('/sys/fs/cgroup/*/cgroup.procs'):
        try:
            os.close(os.open(path, os.O_WRONLY))
        except OSError:
            continue
        escaped(f'opened {path}')


def leave_cgroup():
    for path in glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True):
        with open(path, 'w') as file:
            file.write(str(os.getpid()))
        escaped(f'moved to {path}')


run(open_switches, leave_cgroup)
