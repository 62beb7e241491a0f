# Loads a module into the kernel, and another kernel; what it offers is empty, so that nothing is ever loaded.
# Why: a module is the kernel.
# needs: any
# at-none: escapes as root where /proc/modules
import errno
import os
import ctypes
from attempt import escaped, run, syscall


def offered(name, *arguments):
    try:
        syscall(name, *arguments)
    except OSError as refusal:
        if refusal.errno in (errno.EPERM, errno.ENOSYS, errno.EACCES):
            raise
        escaped(f'{name} looked at what it was offered: {refusal}')
    escaped(f'{name} took it')


def by_file():
    file = os.open('empty.ko', os.O_CREAT | os.O_RDWR)
    offered('finit_module', file, b'', 0)


def by_memory():
    offered('init_module', ctypes.create_string_buffer(16), 16, b'')


def other_kernel():
    offered('kexec_load', 0, 17, None, 0)


run(by_file, by_memory, other_kernel)
