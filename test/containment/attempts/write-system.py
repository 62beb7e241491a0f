# Puts a file among the programs, libraries and settings of the system.
# Why: everybody else on the machine runs what lies there.
# needs: any
# at-none: escapes as root
import os
from attempt import escaped, run


def put_into(folder):
    def put():
        path = f'{folder}/.containment-{os.getpid()}'
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        os.unlink(path)
        escaped(f'made {path}')

    put.__name__ = f'put into {folder}'
    return put


run(*[put_into(folder) for folder in ['/usr/bin', '/usr/lib', '/usr/local/bin', '/etc', '/lib', '/dev', '/']])
