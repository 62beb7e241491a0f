# Looks whether it was handed a descriptor that leads out: a folder, a socket, a file of the hub.
# Why: `openat` with an inherited folder goes past every mount, and a socket of the hub speaks for it.
# needs: any
# at-none: held because the hub hands on nothing but three pipes, at every level
import os
import stat
from attempt import escaped, run


def look():
    for name in os.listdir('/proc/self/fd'):
        try:
            found = os.fstat(int(name))
            leads = os.readlink(f'/proc/self/fd/{name}')
        except OSError:
            continue
        own = '/proc/' in leads or leads.startswith('/dev/null') or 'attempts' in leads
        if not own and not stat.S_ISFIFO(found.st_mode):
            escaped(f'{name} leads to {leads}')
        if int(name) > 2 and not own:
            escaped(f'{name} was handed on: {leads}')


run(look)
