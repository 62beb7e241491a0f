"""What every attempt in Python uses: the facts an attacker would know, system calls by name, and the one line at the end."""
import ctypes
import json
import os
import platform
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(HERE, 'facts.json')) as file:
    facts = json.load(file)

# What is planted outside looks like this; no attempt knows the values.
PLANTED = re.compile(rb'planted-[a-z]+-[0-9a-f]{24}')

libc = ctypes.CDLL(None, use_errno=True)


class Escaped(Exception):
    pass


def escaped(evidence):
    raise Escaped(evidence)


def steal(data, where):
    """An escape, if there is something planted among the bytes."""
    found = PLANTED.search(data)
    if found:
        escaped(f'{where}: {found.group().decode()}')
    raise OSError(f'nothing of worth in {where}')


def steal_file(path):
    with open(path, 'rb') as file:
        steal(file.read(), path)


def run(*ways):
    """Tries every way, and prints the verdict as one line; what is refused holds, what has a defect is broken."""
    reasons = []
    for way in ways:
        try:
            way()
        except Escaped as evidence:
            end('ESCAPED', f'{way.__name__}: {evidence}')
        except OSError as refusal:
            reasons.append(f'{way.__name__}: {refusal}')
        except BaseException as defect:
            end('BROKEN', f'{way.__name__}: {defect!r}')
    end('HELD', '; '.join(reasons) or 'nothing came of it')


def end(verdict, text):
    os.write(1, (f'{verdict}: ' + ' '.join(text.split())[:600] + '\n').encode('utf8', 'replace'))
    os._exit(0)


def syscall(name, *arguments):
    """Calls the kernel as C would; refusals are OSErrors."""
    numbers = CALLS[name]
    number = numbers[0] if platform.machine() == 'x86_64' else numbers[1]
    if number is None:
        raise OSError(f'{name} does not exist on this processor')
    result = libc.syscall(ctypes.c_long(number), *[as_word(argument) for argument in arguments])
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f'{name}: {os.strerror(code)}')
    return result


def as_word(argument):
    return ctypes.c_long(argument) if isinstance(argument, int) else argument


def in_child(function):
    """Runs it in a child, so that what it changes ends with it; its refusal is ours."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            function()
            said = 'refused: it did nothing'
        except Escaped as evidence:
            said = f'escaped: {evidence}'
        except OSError as refusal:
            said = f'refused: {refusal}'
        except BaseException as defect:
            said = f'broken: {defect!r}'
        os.write(writer, said.encode('utf8', 'replace')[:2000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, 'rb') as file:
        said = file.read().decode()
    os.waitpid(child, 0)
    kind, _, text = said.partition(': ')
    if kind == 'escaped':
        escaped(text)
    if kind == 'broken':
        raise RuntimeError(text)
    raise OSError(text or 'it was killed')


# Numbers on x86-64 and on arm64.
CALLS = {
    'acct': (163, 89),
    'add_key': (248, 217),
    'bpf': (321, 280),
    'chroot': (161, 51),
    'clone': (56, 220),
    'clone3': (435, 435),
    'finit_module': (313, 273),
    'fsconfig': (431, 431),
    'fsmount': (432, 432),
    'fsopen': (430, 430),
    'init_module': (175, 105),
    'io_uring_setup': (425, 425),
    'ioperm': (173, None),
    'iopl': (172, None),
    'kexec_load': (246, 104),
    'keyctl': (250, 219),
    'mount': (165, 40),
    'mount_setattr': (442, 442),
    'move_mount': (429, 429),
    'name_to_handle_at': (303, 264),
    'open_by_handle_at': (304, 265),
    'open_tree': (428, 428),
    'perf_event_open': (298, 241),
    'pidfd_getfd': (438, 438),
    'pidfd_open': (434, 434),
    'pidfd_send_signal': (424, 424),
    'pivot_root': (155, 41),
    'process_vm_readv': (310, 270),
    'process_vm_writev': (311, 271),
    'ptrace': (101, 117),
    'reboot': (169, 142),
    'request_key': (249, 218),
    'sethostname': (170, 161),
    'setns': (308, 268),
    'settimeofday': (164, 170),
    'swapon': (167, 224),
    'syslog': (103, 116),
    'umount2': (166, 39),
    'unshare': (272, 97),
    'userfaultfd': (323, 282),
}

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_REMOUNT_BIND = 0x20 | 0x1000
MS_BIND_REC = 0x1000 | 0x4000
MNT_DETACH = 2

if sys.platform != 'linux':
    end('BROKEN', 'the attempts are for Linux')
