# While one command closes the folder of a hidden file and of protected settings again and again, others open it and look.
# Why: who may not list a folder does not know what to hide there; its owner can open it again at any time.
# needs: any
# before: background close-folder.py
# repeat: 12
# refused: held
# at-none: escapes
import os
from attempt import escaped, facts, run, steal_file

os.chdir(facts['root'])
SIGN = 'work/closed-folder/open'


def opened(way):
    def turns():
        open(SIGN, 'w').close()
        try:
            for _ in range(200):
                try:
                    os.chmod('closing', 0o700)
                    way()
                except OSError as refusal:
                    last = refusal
            raise last
        finally:
            os.remove(SIGN)

    turns.__name__ = way.__name__
    return turns


def read():
    steal_file('closing/.env')


def change():
    with open('closing/.vscode/settings.json', 'a'):
        escaped('opened protected settings to write')


run(opened(read), opened(change))
