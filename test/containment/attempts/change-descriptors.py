# Changes files that a process holds open, and its folder, by their links in /proc.
# Why: a descriptor that was opened outside leads past the mounts of the sandbox, and so past what is read-only.
# needs: any
# at-none: escapes
import os
import stat
from changes import change
from attempt import facts, run


def change_open():
    for pid in os.listdir('/proc'):
        if not pid.isdigit():
            continue
        for name in descriptors(pid) + ['cwd']:
            path = f'/proc/{pid}/{name}'
            if leads_out(path):
                change(path)


def descriptors(pid):
    try:
        return [f'fd/{name}' for name in os.listdir(f'/proc/{pid}/fd')]
    except OSError:
        return []


def leads_out(path):
    try:
        mode, target = os.stat(path).st_mode, os.readlink(path)
    except OSError:
        return False
    # Pipes and sockets are no files, and what lies in the workspace may be changed.
    isFile = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISCHR(mode)
    return isFile and not target.startswith((facts['root'], facts['secondRoot'], '/dev/pts/', '/proc/'))


run(change_open)
