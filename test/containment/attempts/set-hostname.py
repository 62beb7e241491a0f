# Changes the name of the machine to the one that it has.
# Why: others trust names, and a name that a command can change is not bound to its sandbox.
# needs: any
# at-none: escapes as root
import os
from attempt import escaped, run, syscall


def rename():
    name = os.uname().nodename.encode()
    syscall('sethostname', name, len(name))
    escaped('named the machine')


def by_file():
    with open('/proc/sys/kernel/hostname', 'r+') as file:
        name = file.read()
        file.write(name)
    escaped('named the machine by /proc')


run(rename, by_file)
