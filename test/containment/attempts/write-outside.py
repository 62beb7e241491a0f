# Changes a file outside of the roots, makes one beside it, and removes one.
# Why: a line in somebody's profile or crontab runs later, without any sandbox.
# needs: any
# at-none: escapes
import os
from attempt import escaped, facts, run

outside = os.path.dirname(facts['secretFile'])


def change():
    with open(f'{outside}/changeable', 'r+') as file:
        file.write('changed by a command')
    escaped('changed a file')


def create():
    os.close(os.open(f'{outside}/created', os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    escaped('made a file')


def remove():
    os.unlink(f'{outside}/changeable')
    escaped('removed a file')


run(change, create, remove)
