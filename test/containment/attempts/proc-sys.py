# Opens every switch below /proc/sys for writing, and writes back what kernel.core_pattern and kernel.modprobe say.
# Why: these two name programs that the machine itself runs as root, outside of every sandbox.
# needs: any
# at-none: escapes as root where /proc/sys/kernel/core_pattern
import os
from attempt import escaped, run


def write_back(path):
    def write():
        with open(path, 'rb') as file:
            value = file.read()
        file = os.open(path, os.O_WRONLY)
        os.write(file, value)
        escaped(f'wrote {path}')

    write.__name__ = path
    return write


def open_all():
    for folder, _, names in os.walk('/proc/sys'):
        for name in names:
            try:
                os.close(os.open(f'{folder}/{name}', os.O_WRONLY))
            except OSError:
                continue
            escaped(f'opened {folder}/{name}')


run(*map(write_back, ['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/modprobe', '/proc/sys/kernel/hotplug']), open_all)
