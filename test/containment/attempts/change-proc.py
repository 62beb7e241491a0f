# Changes mode and owner of files of /proc that belong to the whole machine.
# Why: their mode is kept once for all instances of /proc; who cannot read /proc/uptime or /proc/stat breaks in odd ways.
# needs: any
# at-none: escapes as root
import os
from changes import change
from attempt import run


def change_entries():
    for name in os.listdir('/proc'):
        if not name.isdigit() and not os.path.islink(f'/proc/{name}'):
            change(f'/proc/{name}')


def change_below():
    for folder in ['/proc/sys/kernel', '/proc/fs', '/proc/irq', '/proc/bus', '/proc/driver', '/proc/tty', '/proc/pressure']:
        for name in sorted(os.listdir(folder))[:50] if os.path.isdir(folder) else []:
            change(f'{folder}/{name}')


run(change_entries, change_below)
