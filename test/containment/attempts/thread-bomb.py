# Starts threads until it is stopped; at most twenty more than the limit.
# Why: threads fill the same table as processes.
# needs: any
# killed: held
# at-none: escapes
import _thread
import time
from attempt import escaped, facts, run

limit = facts['limits']['processes']


def start():
    _thread.stack_size(64 * 1024)
    for count in range(limit + 20):
        try:
            _thread.start_new_thread(time.sleep, (20,))
        except RuntimeError as refusal:
            raise OSError(f'{count} threads, then {refusal}')
    escaped(f'{limit + 20} threads, the limit is {limit}')


run(start)
