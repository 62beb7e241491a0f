# Takes an open file out of another process with pidfd_open and pidfd_getfd.
# Why: sockets and files of the hub or of others would be used as if they were one's own.
# needs: any
# at-none: escapes
import os
from attempt import facts, run, steal, syscall


def take():
    process = syscall('pidfd_open', facts['outsidePid'], 0)
    file = syscall('pidfd_getfd', process, facts['unlinkedFd'], 0)
    steal(os.pread(file, 1000, 0), 'the file of another process')


run(take)
