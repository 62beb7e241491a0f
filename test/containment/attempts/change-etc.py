# Changes the files of /etc that it sees, and what lies around them.
# Why: certificates, the loader's cache and the list of users are read by all programs, later ones too.
# needs: any
# at-none: escapes as root
import os
from changes import change
from attempt import run


def change_settings():
    change('/etc')
    for folder, folders, names in os.walk('/etc'):
        for name in [*folders, *names]:
            change(f'{folder}/{name}')


run(change_settings)
