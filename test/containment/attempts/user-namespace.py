# Makes a user namespace in which it is root: by unshare, by clone, by clone3.
# Why: in it a command has all capabilities, and most holes of the kernel need just that.
# needs: any
# at-none: escapes where /proc/self/ns/user
import ctypes
import os
import signal
from attempt import CLONE_NEWUSER, escaped, in_child, run, syscall


def by_unshare():
    in_child(lambda: syscall('unshare', CLONE_NEWUSER) or escaped('made one by unshare'))


def finish(child, how):
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    escaped(f'made one by {how}')


def by_clone():
    finish(syscall('clone', CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0), 'clone')


def by_clone3():
    arguments = (ctypes.c_uint64 * 11)(CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD)
    finish(syscall('clone3', arguments, ctypes.sizeof(arguments)), 'clone3')


run(by_unshare, by_clone, by_clone3)
