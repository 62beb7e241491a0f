# Reads and writes the memory of a process outside with process_vm_readv and process_vm_writev.
# Why: the same as a debugger, in one call and without stopping anybody.
# needs: any
# at-none: escapes
import ctypes
import os
from attempt import escaped, facts, run, steal, syscall


class Vector(ctypes.Structure):
    _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]


size = facts['memoryBytes']
buffer = ctypes.create_string_buffer(size)
here = ctypes.byref(Vector(ctypes.addressof(buffer), size))
there = ctypes.byref(Vector(facts['memoryAddress'], size))


def read():
    syscall('process_vm_readv', facts['outsidePid'], here, 1, there, 1, 0)
    steal(buffer.raw, 'memory')


def own():
    # Not even of itself: the call is closed as a whole.
    mine = ctypes.byref(Vector(ctypes.addressof(buffer), size))
    syscall('process_vm_writev', os.getpid(), mine, 1, mine, 1, 0)
    escaped('the call works')


run(read, own)
