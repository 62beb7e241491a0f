# Makes forbidden system calls by other numbers: the 32-bit gate of the processor, and the x32 numbers.
# Why: a filter that compares 64-bit numbers only does not see them.
# needs: any
# killed: held
# at-none: escapes where /proc/self/ns/user
import ctypes
import mmap
import os
import platform
from attempt import CLONE_NEWUSER, escaped, in_child, libc, run

X32, UNSHARE_64, UNSHARE_32 = 0x40000000, 272, 310


def only_here():
    if platform.machine() != 'x86_64':
        raise OSError('only on x86-64')


def x32():
    only_here()

    def call():
        if libc.syscall(ctypes.c_long(X32 + UNSHARE_64), ctypes.c_long(CLONE_NEWUSER)) == -1:
            raise OSError(ctypes.get_errno(), 'x32')
        escaped('by x32')

    in_child(call)


def gate():
    only_here()
    # push rbx; mov eax, number; mov ebx, edi; int 0x80; pop rbx; ret
    code = b'\x53\xb8' + UNSHARE_32.to_bytes(4, 'little') + b'\x89\xfb\xcd\x80\x5b\xc3'
    memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    memory.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_uint)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))

    def call():
        result = function(CLONE_NEWUSER)
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        escaped('by the 32-bit gate')

    in_child(call)


run(x32, gate)
