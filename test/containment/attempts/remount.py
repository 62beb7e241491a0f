# Makes what is read-only writable again: the protected files, /usr, /proc/sys; and writes to the first.
# Why: a flag of a mount is all that stands before them.
# needs: any
# at-none: escapes
from attempt import MS_REMOUNT_BIND, escaped, facts, run, syscall


def unlock(path, isFile):
    def write():
        refusal = ''
        try:
            syscall('mount', b'none', path.encode(), None, MS_REMOUNT_BIND, None)
        except OSError as error:
            refusal = f'{error}; '
        if not isFile:
            raise OSError(refusal) if refusal else escaped(f'remounted {path}')
        try:
            with open(path, 'r+b') as file:
                content = file.read()
                file.seek(0)
                file.write(content)
        except OSError as error:
            raise OSError(f'{refusal}{error}')
        escaped(f'wrote {path}')

    write.__name__ = path
    return write


run(unlock(f"{facts['root']}/tool-hub.yaml", True), unlock('/usr', False), unlock('/proc/sys', False))
