# Opens more files than the limit.
# Why: the table of open files belongs to the whole machine.
# needs: any
# at-none: escapes
import os
from attempt import escaped, facts, run

limit = facts['limits']['openFiles']


def open_many():
    for count in range(limit + 20):
        try:
            os.open('/dev/null', os.O_RDONLY)
        except OSError as refusal:
            raise OSError(f'{count} files, then {refusal}')
    escaped(f'{limit + 20} files, the limit is {limit}')


run(open_many)
