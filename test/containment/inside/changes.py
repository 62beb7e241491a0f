"""Changes that leave a file as it is: what the kernel lets pass here, it would let pass with other values."""
import os
import stat
from attempt import escaped


def change(path):
    """An escape, if any change of the file passes; what cannot be looked at cannot be changed either."""
    try:
        found = os.stat(path)
    except OSError:
        return
    for way in WAYS:
        try:
            passed = way(path, found)
        except OSError:
            continue
        if passed is not False:
            escaped(f'{way.__name__} of {path}, which is {os.path.realpath(path)}')


def change_mode(path, found):
    os.chmod(path, stat.S_IMODE(found.st_mode))


def change_times(path, found):
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def change_owner(path, found):
    os.chown(path, found.st_uid, found.st_gid)


def change_attributes(path, found):
    os.setxattr(path, 'user.tool-hub-containment', b'x')
    os.removexattr(path, 'user.tool-hub-containment')


def change_size(path, found):
    if not stat.S_ISREG(found.st_mode):
        return False
    os.truncate(path, found.st_size)


def open_to_write(path, found):
    if not stat.S_ISREG(found.st_mode):
        return False
    os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY))


# The last one could cut what somebody else is just writing; where it passes, one before it has.
WAYS = [change_mode, change_times, change_owner, change_attributes, open_to_write, change_size]
