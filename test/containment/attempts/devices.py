# Opens the devices of the machine in /dev: disks, virtual machines, tunnels, the log of the kernel.
# Why: each is a door to the kernel, and some to everything (disks, memory).
# needs: any
# at-none: escapes
import os
import stat
from attempt import escaped, run

# No more than null, zero, full, random, urandom, tty and ptmx.
HARMLESS = {(1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)}
# Where there is no sandbox these are opened first, as nothing comes of opening them.
FIRST = ['kvm', 'fuse', 'net/tun', 'autofs', 'loop-control', 'kmsg', 'hwrng', 'sda', 'vda', 'nvme0n1']


def open_one(path):
    try:
        found = os.stat(path)
        isDevice = stat.S_ISBLK(found.st_mode) or stat.S_ISCHR(found.st_mode)
        if not isDevice or (os.major(found.st_rdev), os.minor(found.st_rdev)) in HARMLESS:
            return
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY))
    except OSError:
        return
    escaped(f'opened {path}')


def open_all():
    for name in FIRST:
        open_one(f'/dev/{name}')
    for folder, _, names in os.walk('/dev'):
        for name in names:
            # A watchdog restarts the machine when it is closed again.
            if 'watchdog' not in name:
                open_one(f'{folder}/{name}')


run(open_all)
