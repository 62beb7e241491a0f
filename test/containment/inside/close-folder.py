# The first half of closed-folder: closes the folder of a hidden file as often as it can, until the second half is there.
import os
import time
from attempt import facts

os.chdir(facts['root'])
os.write(1, b'ready\n')
until = time.monotonic() + 20
while time.monotonic() < until:
    if os.path.exists('work/closed-folder/open'):
        time.sleep(0.001)
    else:
        os.chmod('closing', 0)
os.chmod('closing', 0o700)
