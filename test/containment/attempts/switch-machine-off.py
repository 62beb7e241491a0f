# Asks the kernel to restart, to swap and to keep accounts, each with arguments that can never work.
# Why: the refusal must come before the arguments are looked at.
# needs: any
# at-none: escapes as root
import errno
from attempt import escaped, run, syscall


def ask(name, *arguments):
    def call():
        try:
            syscall(name, *arguments)
        except OSError as refusal:
            if refusal.errno in (errno.EPERM, errno.ENOSYS):
                raise
            escaped(f'{name} got as far as its arguments: {refusal}')
        escaped(f'{name} worked')

    call.__name__ = name
    return call


run(ask('reboot', 1, 2, 3, 0), ask('swapon', b'/nowhere', 0), ask('acct', b'/nowhere'))
