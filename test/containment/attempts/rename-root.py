# Renames a root and the folder that it lies in, so that the next command gets another one in its place.
# Why: the hub binds its roots by name; whoever owns the names chooses what the next sandbox shows.
# needs: any
# at-none: escapes
import os
from attempt import escaped, facts, run

second = facts['secondRoot']


def swap(path):
    # In a sandbox the folders above a root are its own; renaming them there changes nothing outside.
    if not os.path.exists(f'{os.path.dirname(second)}/beside'):
        raise OSError('the folder above is not the one outside')
    os.rename(path, f'{path}.away')
    os.rename(f'{path}.away', path)
    escaped(f'renamed {path}')


def root():
    os.rename(second, f'{second}.away')
    os.rename(f'{second}.away', second)
    escaped('renamed a root')


def parent():
    swap(os.path.dirname(second))


run(root, parent)
