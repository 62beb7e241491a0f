# Watches itself, and a process outside, with the performance counters of the kernel.
# Why: counters tell what others compute, and the call behind them had many holes.
# needs: any
# at-none: escapes as root
import ctypes
import struct
from attempt import escaped, facts, run, syscall

SOFTWARE, CPU_CLOCK, EXCLUDE_KERNEL = 1, 0, 1 << 5


def watch(pid):
    def count():
        attributes = struct.pack('IIQQQQQ', SOFTWARE, 112, CPU_CLOCK, 0, 0, 0, EXCLUDE_KERNEL).ljust(112, b'\0')
        syscall('perf_event_open', ctypes.create_string_buffer(attributes), pid, -1, -1, 0)
        escaped(f'watches {pid or "itself"}')

    count.__name__ = f'watch {pid}'
    return count


run(watch(facts['outsidePid']), watch(0))
