# Attaches to a process outside as a debugger does.
# Why: a debugger reads and writes the memory of the other, and runs what it wants there.
# needs: any
# at-none: escapes
from attempt import escaped, facts, run, syscall

PTRACE_ATTACH, PTRACE_DETACH, PTRACE_SEIZE = 16, 17, 0x4206


def trace(kind, pid):
    def attach():
        syscall('ptrace', kind, pid, 0, 0)
        try:
            syscall('ptrace', PTRACE_DETACH, pid, 0, 0)
        except OSError:
            # It has not stopped yet; our end lets it go.
            pass
        escaped(f'attached to {pid}')

    attach.__name__ = f'{kind:#x} of {pid}'
    return attach


run(*[trace(kind, facts[pid]) for kind in (PTRACE_SEIZE, PTRACE_ATTACH) for pid in ('outsidePid', 'victimPid')])
