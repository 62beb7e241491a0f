"""
The machine around a sandbox, with something to steal everywhere: a process with secrets in its environment, memory and
descriptors, servers on sockets of every kind, shared memory, a queue, a terminal. Says what an attacker would know as
one line of JSON, and ends with its input.
"""
import ctypes
import json
import os
import platform
import pty
import signal
import socket
import sys
import tempfile
import threading
import time

base, secrets = sys.argv[1], json.loads(os.environ.pop('OUTSIDE_SECRETS'))
libc = ctypes.CDLL(None, use_errno=True)
NAME_TO_HANDLE_AT = 303 if platform.machine() == 'x86_64' else 264
PR_SET_PTRACER = 0x59616D61
AT_FDCWD = -100
name = os.path.basename(base)
libc.shmat.restype = ctypes.c_void_p
cleanups = []


def serve(listener, secret):
    def answer():
        while True:
            client, _ = listener.accept()
            client.sendall(secret.encode())
            client.close()

    listener.listen(8)
    threading.Thread(target=answer, daemon=True).start()
    return listener


def udp(secret):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(('127.0.0.1', 0))

    def answer():
        while True:
            question, sender = server.recvfrom(2048)
            server.sendto(question[:2] + b'\x81\x80' + question[4:] + secret.encode(), sender)

    threading.Thread(target=answer, daemon=True).start()
    return server.getsockname()[1]


def knock():
    """Whoever listens on this port is reached from outside."""
    free = socket.socket()
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
    free.close()

    def go_on():
        while True:
            try:
                socket.create_connection(('127.0.0.1', port), 0.2).sendall(b'knock')
            except OSError:
                pass
            time.sleep(0.02)

    threading.Thread(target=go_on, daemon=True).start()
    return port


def unlinked(secret):
    file, path = tempfile.mkstemp(dir=f'{base}/outside')
    os.write(file, secret.encode())
    os.unlink(path)
    return file


def system_v(secret):
    segment = libc.shmget(0, 4096, 0o1600)
    if segment == -1:
        return None
    ctypes.memmove(libc.shmat(segment, None, 0), secret.encode(), len(secret))
    cleanups.append(lambda: libc.shmctl(segment, 0, None))
    return segment


def queue(secret):
    path = f'/{name}'.encode()
    try:
        opened = libc.mq_open(path, os.O_CREAT | os.O_RDWR, 0o600, None)
    except AttributeError:
        return None
    if opened == -1 or libc.mq_send(opened, secret.encode(), len(secret), 0) == -1:
        return None
    cleanups.append(lambda: libc.mq_unlink(path))
    return path.decode()


def shared_file(secret):
    path = f'/dev/shm/{name}'
    try:
        with open(path, 'x') as file:
            file.write(secret)
    except OSError:
        return None
    cleanups.append(lambda: os.unlink(path))
    return path


def terminal():
    try:
        master, slave = pty.openpty()
        return os.ttyname(slave)
    except OSError:
        return None


def handle(path):
    """The number by which the file system knows a file."""
    buffer = (ctypes.c_uint32 * 40)(128)
    mount = ctypes.c_int()
    if libc.syscall(NAME_TO_HANDLE_AT, AT_FDCWD, path.encode(), buffer, ctypes.byref(mount), 0) == -1:
        return None
    return bytes(buffer)[: 8 + buffer[0]].hex()


def sleeper():
    """A process that waits for whoever would harm it."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        libc.prctl(1, signal.SIGKILL)
        while True:
            signal.pause()
    cleanups.append(lambda: os.kill(child, signal.SIGKILL))
    return child


# Where only parents may look into a process, say that anybody may; the sandbox must hold without such help.
libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(-1), 0, 0, 0)
os.environ.clear()
memory = ctypes.create_string_buffer(secrets['memory'].encode())
path_socket = socket.socket(socket.AF_UNIX)
path_socket.bind(f'{base}/outside/socket')
root_socket = socket.socket(socket.AF_UNIX)
root_socket.bind(f'{base}/workspace/service.sock')
os.mkfifo(f'{base}/workspace/service.pipe')
abstract_socket = socket.socket(socket.AF_UNIX)
abstract_socket.bind(f'\0{name}')
tcp_socket = socket.socket()
tcp_socket.bind(('127.0.0.1', 0))
victim = sleeper()
print(
    json.dumps(
        {
            'outsidePid': os.getpid(),
            'victimPid': victim,
            'memoryAddress': ctypes.addressof(memory),
            'memoryBytes': len(memory),
            'socket': serve(path_socket, secrets['socket']).getsockname(),
            'rootSocket': serve(root_socket, secrets['socket']).getsockname(),
            'rootPipe': f'{base}/workspace/service.pipe',
            'abstract': serve(abstract_socket, secrets['abstract']).getsockname()[1:].decode(),
            'tcpPort': serve(tcp_socket, secrets['tcp']).getsockname()[1],
            'udpPort': udp(secrets['udp']),
            'knockPort': knock(),
            'unlinkedFd': unlinked(secrets['unlinked']),
            'systemV': system_v(secrets['systemv']),
            'queue': queue(secrets['queue']),
            'sharedFile': shared_file(secrets['shared']),
            'terminal': terminal(),
            'handle': handle(f'{base}/outside/secret'),
        }
    ),
    flush=True,
)
sys.stdin.read()
for cleanup in cleanups:
    try:
        cleanup()
    except OSError:
        pass
