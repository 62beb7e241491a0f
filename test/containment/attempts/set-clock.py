# Sets the clock of the machine; it gives no time, so that nothing changes.
# Why: certificates and logins end by the clock, and the logs of all lie by it.
# needs: any
# at-none: escapes as root
from attempt import escaped, run, syscall


def set_nothing():
    syscall('settimeofday', None, None)
    escaped('may set the clock')


run(set_nothing)
