# Leaves a daemon: two forks, a session of its own, no environment, pipes closed, signals ignored.
# Why: what outlives its command does what it wants when nobody looks any more.
# needs: any
# leaves: a process, which the test looks for when the command has ended
# at-none: escapes
import os
import signal
import sys
from attempt import end, facts

name = f"left-by-daemon-{facts['name']}"
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        null = os.open('/dev/null', os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.execve(sys.executable, [name, '-c', 'import time; time.sleep(30)'], {})
    os._exit(0)
os.close(writer)
# Closed when the daemon has its name.
os.read(reader, 1)
end('HELD', 'left a daemon')
