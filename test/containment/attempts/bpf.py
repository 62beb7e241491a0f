# Loads data and a program into the kernel with bpf.
# Why: such programs see the whole machine.
# needs: any
# at-none: escapes as root
import ctypes
from attempt import escaped, run, syscall

MAP_CREATE, ARRAY = 0, 2


def make_map():
    attributes = (ctypes.c_uint32 * 30)(ARRAY, 4, 4, 1)
    syscall('bpf', MAP_CREATE, attributes, ctypes.sizeof(attributes))
    escaped('made a map')


run(make_map)
