import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../test/support/sandbox-spec.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { buildSandbox } from './build-sandbox.ts'
import { JUDGED_CALLS, REFUSED_CALLS, seccompProgram } from './seccomp.ts'

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
const ALLOW = 0x7fff0000
const KILL = 0x80000000
const EPERM = 0x00050001
const ENOSYS = 0x00050026
const EAFNOSUPPORT = 0x00050061

describe.each(['x64', 'arm64'] as const)('the filter for %s', (arch) => {
  const answer = (number: number, ...args: number[]) => run(seccompProgram(arch)!, ARCH[arch], number, args)
  const read = arch === 'x64' ? 0 : 63

  it('lets ordinary calls through', () => {
    expect(answer(read)).toBe(ALLOW)
  })

  it('kills a program that speaks for another processor', () => {
    expect(run(seccompProgram(arch)!, 0x40000003, read, [])).toBe(KILL)
  })

  it('refuses every call of the list', () => {
    for (const [name, x64, arm64] of REFUSED_CALLS) {
      const number = arch === 'x64' ? x64 : arm64
      if (number !== undefined) expect([name, answer(number)]).toEqual([name, EPERM])
    }
  })

  it('refuses clone only where it makes a namespace', () => {
    const clone = JUDGED_CALLS.clone[arch]
    expect(answer(clone, 0x003d0f00)).toBe(ALLOW)
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(answer(clone, flag | 17)).toBe(EPERM)
    }
  })

  it('has no clone3, whose flags it cannot see', () => {
    expect(answer(435)).toBe(ENOSYS)
  })

  it('refuses to type into a terminal, also with bits set that the kernel ignores', () => {
    const ioctl = JUDGED_CALLS.ioctl[arch]
    expect(answer(ioctl, 0, 0x5412)).toBe(EPERM)
    expect(answer(ioctl, 0, 0x541c)).toBe(EPERM)
    expect(answer(ioctl, 0, 0x5412 + 2 ** 40)).toBe(EPERM)
    expect(answer(ioctl, 0, 0x5401)).toBe(ALLOW)
  })

  it('has sockets of the namespace only', () => {
    const socket = JUDGED_CALLS.socket[arch]
    for (const family of [1, 2, 10]) expect(answer(socket, family, 1, 0)).toBe(ALLOW)
    for (const family of [17, 31, 38, 40]) expect(answer(socket, family, 1, 0)).toBe(EAFNOSUPPORT)
    for (const family of [0, 3, 9, 11, 15]) expect(answer(socket, family, 1, 0)).toBe(EAFNOSUPPORT)
    expect(answer(socket, 16, 3, 0)).toBe(ALLOW)
    expect(answer(socket, 16, 0, 1)).toBe(EAFNOSUPPORT)
    expect(answer(socket, 16, 3, 9)).toBe(EAFNOSUPPORT)
  })
})

/** Their numbers in `asm/unistd_64.h` (x64) and `asm-generic/unistd.h` (arm64) of Linux. */
const HEADERS = `
ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440 process_mrelease:448:448
kcmp:312:272 pidfd_getfd:438:438 io_uring_setup:425:425 io_uring_enter:426:426 io_uring_register:427:427 bpf:321:280
perf_event_open:298:241 userfaultfd:323:282 lookup_dcookie:212:18 fanotify_init:300:262 keyctl:250:219
add_key:248:217 request_key:249:218 open_by_handle_at:304:265 mount:165:40 umount2:166:39 pivot_root:155:41
chroot:161:51 fsopen:430:430 fsconfig:431:431 fsmount:432:432 fspick:433:433 move_mount:429:429 open_tree:428:428
open_tree_attr:467:467 mount_setattr:442:442 unshare:272:97 setns:308:268 kexec_load:246:104 kexec_file_load:320:294
init_module:175:105 finit_module:313:273 delete_module:176:106 reboot:169:142 swapon:167:224 swapoff:168:225
acct:163:89 quotactl:179:60 quotactl_fd:443:443 syslog:103:116 settimeofday:164:170 clock_settime:227:112
clock_adjtime:305:266 adjtimex:159:171 sethostname:170:161 setdomainname:171:162 vhangup:153:58 nfsservctl:180:42
migrate_pages:256:238 move_pages:279:239 iopl:172:- ioperm:173:- modify_ldt:154:- uselib:134:- ustat:136:-
sysfs:139:- _sysctl:156:- clone:56:220 clone3:435:435 ioctl:16:29 ioprio_set:251:30 socket:41:198
`

describe('the filter', () => {
  it('has the numbers that the headers of the kernel give its calls', () => {
    const judged = Object.entries(JUDGED_CALLS).map(([name, { x64, arm64 }]) => [name, x64, arm64] as const)
    const ours = [...REFUSED_CALLS, ...judged].map(([name, x64 = '-', arm64 = '-']) => `${name}:${x64}:${arm64}`)
    expect(ours).toEqual(HEADERS.trim().split(/\s+/))
  })

  it('refuses the second set of numbers that x64 has', () => {
    expect(run(seccompProgram('x64')!, ARCH.x64, 0x40000000 + 101, [])).toBe(EPERM)
    expect(run(seccompProgram('x64')!, ARCH.x64, 0x40000000, [])).toBe(EPERM)
    expect(run(seccompProgram('x64')!, ARCH.x64, 0x3fffffff, [])).toBe(ALLOW)
    expect(run(seccompProgram('arm64')!, ARCH.arm64, 0x40000000, [])).toBe(ALLOW)
  })

  it('lets a process change its own priority of input and output, and of no other', () => {
    for (const arch of ['x64', 'arm64'] as const) {
      const set = (who: number) => run(seccompProgram(arch)!, ARCH[arch], JUDGED_CALLS.ioprio_set[arch], [1, who, 0])
      expect([set(0), set(2)]).toEqual([ALLOW, EPERM])
    }
  })

  it('is not made up for a processor that it does not know', () => {
    expect(seccompProgram('riscv64')).toBeUndefined()
  })
})

/** Calls that anybody may make without the filter; prints the error of each. */
const CALLS = `
import ctypes, fcntl, json, os, pty, sys
libc = ctypes.CDLL(None, use_errno=True)
def error(number, *args):
    ctypes.set_errno(0)
    return ctypes.get_errno() if libc.syscall(number, *args) == -1 else 0
found = {name: error(number, 0, 0, 0, 0, 0, 0) for name, number in json.loads(sys.argv[1]).items()}
_, terminal = pty.openpty()
try: fcntl.ioctl(terminal, 0x5412, b'x')
except OSError as e: found['TIOCSTI'] = e.errno
print(json.dumps(found))
`

describe.runIf(process.platform === 'linux' && existsSync('/usr/bin/python3'))('the filter in a sandbox', () => {
  it('is there for the command and for process 1', async () => {
    const index = process.arch === 'x64' ? 1 : 2
    const wanted = ['ptrace', 'keyctl', 'io_uring_setup', 'unshare', 'userfaultfd', 'kcmp', 'process_vm_readv', 'bpf']
    const numbers = REFUSED_CALLS.filter(([name]) => wanted.includes(name)).map((call) => [call[0], call[index]])
    const judged = { clone3: 435, vsock: JUDGED_CALLS.socket[process.arch as 'x64'] }
    const workspace = await folderWith()
    const sandbox = buildSandbox(sandboxSpec(workspace))
    const words = ['/usr/bin/python3', '-c', CALLS, JSON.stringify({ ...Object.fromEntries(numbers), ...judged })]
    const { stdout } = await runInSandbox(sandbox, words)
    const refused = Object.fromEntries([...wanted, 'TIOCSTI'].map((name) => [name, 1]))
    expect(JSON.parse(stdout)).toEqual({ ...refused, clone3: 38, vsock: 97 })
    // No command sees process 1.
    const args = sandbox.args.toSpliced(sandbox.args.indexOf('/proc/1') - 3, 6)
    const filters = await runInSandbox({ ...sandbox, args }, [
      '/bin/grep',
      '-h',
      '^Seccomp:',
      '/proc/1/status',
      '/proc/self/status',
    ])
    expect(filters.stdout).toBe('Seccomp:\t2\nSeccomp:\t2\n')
  })

  it.runIf(existsSync('/usr/bin/gcc'))('lets a compiler work', async () => {
    const workspace = await folderWith({ 'a.c': 'int main(void) { return 7; }' })
    const sandbox = buildSandbox(sandboxSpec(workspace))
    const { exitCode } = await runInSandbox(sandbox, ['/bin/sh', '-c', 'gcc a.c -o a && ./a'], { cwd: workspace })
    expect(exitCode).toBe(7)
  })
})

/** The few steps of the kernel's own machine that the filter uses. */
function run(program: Uint8Array, arch: number, number: number, args: readonly number[]): number {
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, number, true)
  data.setUint32(4, arch, true)
  for (const [index, value] of args.entries()) data.setBigUint64(16 + 8 * index, BigInt(value), true)
  const steps = new DataView(program.buffer)
  let loaded = 0
  for (let at = 0; ; at++) {
    const [code, value] = [steps.getUint16(at * 8, true), steps.getUint32(at * 8 + 4, true)]
    if (code === 0x06) return value
    if (code === 0x20) loaded = data.getUint32(value, true)
    else at += steps.getUint8(at * 8 + (holds(code, loaded, value) ? 2 : 3))
  }
}

function holds(code: number, loaded: number, value: number): boolean {
  if (code === 0x15) return loaded === value
  if (code === 0x35) return loaded >= value
  if (code === 0x45) return (loaded & value) !== 0
  throw new Error(`unknown step ${code}`)
}
