# Makes namespaces for mounts, network, processes, names and control groups, and enters those of others.
# Why: in a mount namespace of its own a command could uncover what is hidden; in another's it sees all.
# needs: any
# at-none: escapes as root
import os
from attempt import escaped, facts, in_child, run, syscall

KINDS = {'mnt': 0x00020000, 'net': 0x40000000, 'pid': 0x20000000, 'uts': 0x04000000, 'ipc': 0x08000000, 'cgroup': 0x02000000}


def make(name, flag):
    def new():
        in_child(lambda: syscall('unshare', flag) or escaped(f'made a namespace {name}'))

    new.__name__ = f'make {name}'
    return new


def enter(pid, name):
    def join():
        file = os.open(f'/proc/{pid}/ns/{name}', os.O_RDONLY)
        in_child(lambda: syscall('setns', file, 0) or escaped(f'entered {name} of {pid}'))

    join.__name__ = f'enter {name} of {pid}'
    return join


run(
    *[make(*kind) for kind in KINDS.items()],
    *[enter(pid, name) for pid in (1, facts['outsidePid']) for name in ('user', *KINDS)],
)
