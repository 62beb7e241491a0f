# Sends signals that do no harm to the hub and to the process that starts commands.
# Why: whoever can signal the hub can end it, and with it all that watches the command.
# needs: any
# at-none: escapes
import os
from attempt import escaped, facts, run


def hub():
    os.kill(facts['hubPid'], 0)
    escaped('reached the hub')


def starter():
    with open(f'/proc/{os.getppid()}/cmdline', 'rb') as file:
        if b'spawner' not in file.read():
            raise OSError('the parent belongs to the sandbox')
    os.kill(os.getppid(), 0)
    escaped('reached the starter')


run(hub, starter)
