# Reads a secret from the memory of another process through /proc/<pid>/mem.
# Why: what a process has decrypted lies there, whatever protects its files.
# needs: any
# at-none: escapes
import os
from attempt import facts, run, steal


def outside():
    file = os.open(f"/proc/{facts['outsidePid']}/mem", os.O_RDONLY)
    steal(os.pread(file, facts['memoryBytes'], facts['memoryAddress']), 'memory')


run(outside)
