# Reads a message that somebody outside has left in a queue.
# Why: queues have names of their own, which no mount hides.
# needs: any
# at-none: escapes where facts.queue
import ctypes
import os
from attempt import facts, libc, run, steal


def receive():
    if not facts['queue']:
        raise OSError('there are no queues here')
    queue = libc.mq_open(facts['queue'].encode(), os.O_RDONLY | os.O_NONBLOCK)
    if queue == -1:
        raise OSError(ctypes.get_errno(), 'mq_open')
    buffer = ctypes.create_string_buffer(65536)
    if libc.mq_receive(queue, buffer, ctypes.c_size_t(65536), None) == -1:
        raise OSError(ctypes.get_errno(), 'mq_receive')
    steal(buffer.raw, 'the message')


run(receive)
