"""Becomes another program whose session keyring holds a planted key: with-key.py NAME VALUE PROGRAM [WORD …]"""
import ctypes
import os
import platform
import sys

libc = ctypes.CDLL(None, use_errno=True)
KEYCTL, ADD_KEY = (250, 248) if platform.machine() == 'x86_64' else (219, 217)
JOIN_SESSION_KEYRING = 1
SESSION_KEYRING = -3

name, value, *words = sys.argv[1:]
# A kernel without keyrings says no; then there is nothing to steal.
if libc.syscall(KEYCTL, JOIN_SESSION_KEYRING, None, 0, 0, 0) != -1:
    libc.syscall(ADD_KEY, b'user', name.encode(), value.encode(), len(value), SESSION_KEYRING)
os.execv(words[0], words)
