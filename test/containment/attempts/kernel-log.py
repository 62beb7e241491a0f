# Reads the log of the kernel, by system call and by device.
# Why: it names addresses, devices and processes of the whole machine.
# needs: any
# at-none: escapes as root
import ctypes
import os
from attempt import escaped, run, syscall

READ_ALL = 3


def by_call():
    buffer = ctypes.create_string_buffer(4096)
    if syscall('syslog', READ_ALL, buffer, 4096) > 0:
        escaped('read the log')


def by_device():
    file = os.open('/dev/kmsg', os.O_RDONLY | os.O_NONBLOCK)
    os.read(file, 4096)
    escaped('read /dev/kmsg')


run(by_call, by_device)
