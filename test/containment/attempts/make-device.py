# Makes device files in the workspace and in memory, and opens them.
# Why: whoever has a device file of the disk has the disk.
# needs: any
# at-none: escapes as root
import os
import stat
from attempt import escaped, run


def make(folder, kind, number):
    def device():
        path = f'{folder}/device-{os.getpid()}-{number}'
        os.mknod(path, kind | 0o666, os.makedev(*number))
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        finally:
            os.unlink(path)
        escaped(f'opened the device {number}')

    device.__name__ = f'{folder} {number}'
    return device


run(
    make('.', stat.S_IFCHR, (1, 3)),
    make('/tmp', stat.S_IFCHR, (1, 11)),
    make('/dev/shm', stat.S_IFBLK, (7, 0)),
    make('/dev', stat.S_IFCHR, (1, 1)),
)
