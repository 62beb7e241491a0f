# Gives a file from outside, or a hidden one, a second name in the workspace.
# Why: a hard link has no target to check; it is the file.
# needs: any
# at-none: escapes
import os
from attempt import facts, run, steal_file


def outside():
    os.link(facts['secretFile'], 'outside-link')
    steal_file('outside-link')


def hidden():
    os.link(f"{facts['root']}/.env", 'hidden-link')
    steal_file('hidden-link')


def by_descriptor():
    file = os.open(f"{facts['root']}/key.pem", os.O_PATH)
    os.link(f'/proc/self/fd/{file}', 'descriptor-link', follow_symlinks=True)
    steal_file('descriptor-link')


run(outside, hidden, by_descriptor)
