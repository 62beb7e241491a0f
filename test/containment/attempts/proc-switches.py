# Opens the other switches in /proc for writing: sysrq-trigger (never used), interrupts, file systems, devices.
# Why: one letter to sysrq-trigger stops the machine; root needs no capability for most of them.
# needs: any
# at-none: escapes as root where /proc/irq
import os
from attempt import escaped, run


def open_all():
    for top in os.listdir('/proc'):
        # Who writes to `pressure` asks to be told of it, and changes nothing.
        if top.isdigit() or top in ('self', 'thread-self', 'sys', 'pressure'):
            continue
        for folder, _, names in os.walk(f'/proc/{top}') if os.path.isdir(f'/proc/{top}') else [('/proc', [], [top])]:
            for name in names:
                try:
                    os.close(os.open(f'{folder}/{name}', os.O_WRONLY))
                except OSError:
                    continue
                # Bound to the null device, which swallows all.
                if os.stat(f'{folder}/{name}').st_rdev != os.makedev(1, 3):
                    escaped(f'opened {folder}/{name}')


run(open_all)
