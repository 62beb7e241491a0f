# Changes its root: pivot_root to a folder of its own, with the old root below it.
# Why: it is how containers are entered, and a way to turn one inside out.
# needs: any
# at-none: escapes as root
import os
from attempt import CLONE_NEWNS, MS_BIND_REC, escaped, in_child, run, syscall

MS_PRIVATE_REC = 0x40000 | 0x4000
os.makedirs('new/old', exist_ok=True)


def pivot():
    try:
        syscall('unshare', CLONE_NEWNS)
        syscall('mount', None, b'/', None, MS_PRIVATE_REC, None)
        syscall('mount', b'new', b'new', None, MS_BIND_REC, None)
    except OSError:
        # Tried all the same: the sandbox may have a root that can be turned.
        pass
    syscall('pivot_root', b'new', b'new/old')
    escaped('turned the root')


def in_a_child():
    in_child(pivot)


run(in_a_child)
