# Attaches a shared memory segment of somebody outside, by its number and by trying all.
# Why: these live outside of all files; databases use them.
# needs: any
# at-none: escapes where facts.systemV
import ctypes
from attempt import facts, libc, run, steal

libc.shmat.restype = ctypes.c_void_p
SHM_RDONLY = 0o10000


def attach(number):
    def read():
        address = libc.shmat(number, None, SHM_RDONLY)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), 'shmat')
        steal(ctypes.string_at(address, 200), 'the segment')

    read.__name__ = f'segment {number}'
    return read


run(*[attach(number) for number in [facts['systemV'] or 0, *range(8)]])
