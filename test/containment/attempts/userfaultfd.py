# Takes over the handling of its own page faults.
# Why: with it an attacker stops the kernel in the middle of its work, as long as an exploit needs.
# needs: any
# at-none: escapes
import os
from attempt import escaped, run, syscall

USER_MODE_ONLY = 1


def open_it():
    syscall('userfaultfd', os.O_CLOEXEC | USER_MODE_ONLY)
    escaped('handles page faults')


def by_device():
    os.open('/dev/userfaultfd', os.O_RDWR)
    escaped('opened the device')


run(open_it, by_device)
