# Raises its own limits.
# Why: a limit that can be lifted is none.
# needs: any
# at-none: either, because it takes a capability that root of a container often does not have
import resource
from attempt import escaped, run

NAMES = ['RLIMIT_NOFILE', 'RLIMIT_NPROC', 'RLIMIT_DATA', 'RLIMIT_AS', 'RLIMIT_FSIZE', 'RLIMIT_CPU', 'RLIMIT_CORE']


def lift(name):
    def more():
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            raise OSError('there is no limit')
        try:
            resource.setrlimit(kind, (hard + 1, hard + 1))
        except ValueError as refusal:
            raise OSError(refusal)
        escaped(f'{name} is {hard + 1} now')

    more.__name__ = name
    return more


run(*map(lift, NAMES))
