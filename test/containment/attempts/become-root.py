# Becomes another user, gets capabilities back and gives files to others.
# Why: root without capabilities is nobody special, until it can get them back.
# needs: any
# at-none: escapes as root
import ctypes
import os
import struct
from attempt import escaped, in_child, libc, run


def other_user():
    in_child(lambda: os.setresuid(12345, 12345, 12345) or escaped('became user 12345'))


def other_group():
    in_child(lambda: os.setgroups([0, 4, 27]) or escaped('joined groups'))


def capabilities():
    header = ctypes.create_string_buffer(struct.pack('Ii', 0x20080522, 0))
    wanted = ctypes.create_string_buffer(struct.pack('6I', 1 << 21, 1 << 21, 0, 0, 0, 0))
    if libc.capset(header, wanted) == -1:
        raise OSError(ctypes.get_errno(), 'capset')
    escaped('may administrate the system')


def give_away():
    os.close(os.open('given', os.O_CREAT | os.O_WRONLY))
    os.chown('given', 12345, 12345)
    escaped('gave a file away')


def read_of_others():
    with open('/proc/self/status') as file:
        effective = [line.split()[1] for line in file if line.startswith('CapEff')][0]
    if int(effective, 16) != 0:
        escaped(f'has capabilities {effective}')


run(other_user, other_group, capabilities, give_away, read_of_others)
