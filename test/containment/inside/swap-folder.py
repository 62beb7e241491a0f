# The first half of swapped-folder: a folder that was not there before, and so is free, becomes a link to / and back.
import os
import time
from attempt import facts

os.chdir(facts['root'])
os.makedirs('work/swap', exist_ok=True)
# Not by its name: the hub may rename it before something is made in it.
os.makedirs('work/swap/made/real')
os.rename('work/swap/made', '.cursor')
os.symlink('/', 'work/swap/link')
os.write(1, b'ready\n')
# The hub takes away what it finds at the protected name. The link comes again, but not so often that the hub stops it all.
links = 3
until = time.monotonic() + 15
while time.monotonic() < until:
    if links > 0 and not os.path.lexists('work/swap/link'):
        os.symlink('/', 'work/swap/link')
        links -= 1
    for _ in range(100):
        for start, end in [('.cursor', 'work/swap/folder'), ('work/swap/link', '.cursor')]:
            try:
                os.rename(start, end)
            except OSError:
                pass
        for start, end in [('.cursor', 'work/swap/link'), ('work/swap/folder', '.cursor')]:
            try:
                os.rename(start, end)
            except OSError:
                pass
