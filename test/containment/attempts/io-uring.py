# Sets up io_uring, through which the kernel does the work of many calls that a filter never sees.
# Why: it goes past system call filters, and was the way to root in many exploits.
# needs: any
# at-none: escapes where /proc/sys/kernel/io_uring_disabled is 0
import ctypes
from attempt import escaped, run, syscall


def set_up():
    syscall('io_uring_setup', 1, ctypes.create_string_buffer(120))
    escaped('set up a ring')


run(set_up)
