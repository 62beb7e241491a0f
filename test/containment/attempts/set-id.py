# Leaves a program in the workspace that runs with the rights of its owner, whoever starts it.
# Why: other users of the machine would become the user of the hub, root for many a service.
# needs: any
# at-none: escapes
import os
import stat
from attempt import escaped, run


def with_mode(name, make):
    def leave():
        try:
            make(name)
            if os.lstat(name).st_mode & 0o6000:
                escaped(f'left {name} with mode {stat.filemode(os.lstat(name).st_mode)}')
        finally:
            if os.path.lexists(name):
                os.unlink(name)
        raise OSError('the bits are not there')

    leave.__name__ = name
    return leave


def chmod(name):
    open(name, 'w').close()
    os.chmod(name, 0o4755)


def create(name):
    os.umask(0)
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o4755))


def node(name):
    os.umask(0)
    os.mknod(name, stat.S_IFREG | 0o2755)


def unnamed(name):
    os.umask(0)
    file = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o6755)
    os.link(f'/proc/self/fd/{file}', name, follow_symlinks=True)


run(with_mode('chmod', chmod), with_mode('open', create), with_mode('mknod', node), with_mode('unnamed', unnamed))
