# Goes on when the hub is killed with -9: ignores signals, has a child in a session of its own, and no environment.
# Why: a hub that crashes must not leave behind what it was there to watch.
# needs: any
# before: kill hub
# leaves: processes, which the test looks for when the hub has been killed
# at-none: escapes
import os
import signal
import sys
from attempt import facts

words = [f"left-by-outlive-hub-{facts['name']}", '-c', 'import time; time.sleep(600)']
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
    signal.signal(number, signal.SIG_IGN)
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open('/dev/null', os.O_RDWR)
        for descriptor in range(3):
            os.dup2(null, descriptor)
        os.execve(sys.executable, words, {})
    os._exit(0)
os.close(writer)
# Closed when the child has its name.
os.read(reader, 1)
os.write(1, b'ready\n')
os.execve(sys.executable, words, {})
