# Changes mode, times and owner of the nodes in /dev.
# Why: they are those of the machine; a /dev/null that only root may use ends most of what others run.
# needs: any
# at-none: escapes as root
import os
from changes import change
from attempt import run


def change_nodes():
    for name in os.listdir('/dev'):
        # These belong to the sandbox alone.
        if name not in ('pts', 'ptmx', 'shm', 'mqueue') and not os.path.islink(f'/dev/{name}'):
            change(f'/dev/{name}')


run(change_nodes)
