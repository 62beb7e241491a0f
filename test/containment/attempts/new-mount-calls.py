# Mounts with the newer calls: fsopen and fsmount, open_tree and move_mount, mount_setattr.
# Why: a filter that knows only `mount` forgets these.
# needs: any
# at-none: escapes as root
import ctypes
import os
from attempt import escaped, facts, run, syscall

CREATE, CLONE_TREE, AT_FDCWD = 6, 1, -100


def from_nothing():
    context = syscall('fsopen', b'tmpfs', 0)
    syscall('fsconfig', context, CREATE, None, None, 0)
    mount = syscall('fsmount', context, 0, 0)
    os.close(os.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=mount))
    escaped('made a file system')


def copy():
    tree = syscall('open_tree', AT_FDCWD, facts['root'].encode(), CLONE_TREE)
    os.stat('.env', dir_fd=tree)
    escaped('copied a mount')


def attributes():
    wanted = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
    syscall('mount_setattr', AT_FDCWD, b'/usr', 0, wanted, ctypes.sizeof(wanted))
    escaped('made /usr writable')



run(from_nothing, copy, attributes)
