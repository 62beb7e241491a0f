import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { folderWith, sandboxSpec } from '../../../../../test/support/sandbox-spec.ts'
import { runInSandbox } from '../probe/probe-sandbox.ts'
import { buildSandbox } from './build-sandbox.ts'
import { JUDGED_CALLS, MODE_CALLS, REFUSED_CALLS, seccompProgram } from './seccomp.ts'

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

  it('refuses modes with which a file runs as its owner or its group', () => {
    for (const [name, x64, arm64, at] of MODE_CALLS) {
      const number = arch === 'x64' ? x64 : arm64
      if (number === undefined) continue
      const withMode = (mode: number) => answer(number, ...Array<number>(at).fill(0), mode)
      const answers = [0o4755, 0o2755, 0o6000, 0o104755].map(withMode)
      expect([name, ...answers]).toEqual([name, EPERM, EPERM, EPERM, EPERM])
      expect([name, withMode(0o1777), withMode(0o100644)]).toEqual([name, ALLOW, ALLOW])
    }
  })

  it('refuses to create a file with such a mode, and ignores the mode where nothing is created', () => {
    const opens: [number, number[]][] = [[JUDGED_CALLS.openat[arch], [-100, 0]]]
    if (arch === 'x64') opens.push([JUDGED_CALLS.open.x64, [0]])
    for (const [number, before] of opens) {
      const open = (flags: number, mode: number) => answer(number, ...before, flags, mode)
      expect([open(0o101, 0o4755), open(0o20200002, 0o4755), open(0o20200002, 0o2700)]).toEqual([EPERM, EPERM, EPERM])
      expect([open(0o101, 0o755), open(0o20200002, 0o600), open(0o2000000, 0o7777)]).toEqual([ALLOW, ALLOW, ALLOW])
    }
    expect(answer(437)).toBe(ENOSYS)
  })

  it('refuses leases, and no other fcntl', () => {
    const fcntl = JUDGED_CALLS.fcntl[arch]
    expect([1024, 1040].map((command) => answer(fcntl, 3, command, 1))).toEqual([EPERM, EPERM])
    // F_DUPFD, F_SETFL, F_SETLK, F_OFD_SETLK, F_GETLEASE, F_DUPFD_CLOEXEC, F_SETPIPE_SZ, F_ADD_SEALS
    for (const command of [0, 4, 6, 37, 1025, 1030, 1031, 1033]) expect(answer(fcntl, 3, command, 1)).toBe(ALLOW)
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
perf_event_open:298:241 userfaultfd:323:282 lookup_dcookie:212:18 io_setup:206:0 fanotify_init:300:262 keyctl:250:219
add_key:248:217 request_key:249:218 open_by_handle_at:304:265 mount:165:40 umount2:166:39 pivot_root:155:41
chroot:161:51 fsopen:430:430 fsconfig:431:431 fsmount:432:432 fspick:433:433 move_mount:429:429 open_tree:428:428
open_tree_attr:467:467 mount_setattr:442:442 unshare:272:97 setns:308:268 kexec_load:246:104 kexec_file_load:320:294
init_module:175:105 finit_module:313:273 delete_module:176:106 reboot:169:142 swapon:167:224 swapoff:168:225
acct:163:89 quotactl:179:60 quotactl_fd:443:443 syslog:103:116 settimeofday:164:170 clock_settime:227:112
clock_adjtime:305:266 adjtimex:159:171 sethostname:170:161 setdomainname:171:162 vhangup:153:58 nfsservctl:180:42
migrate_pages:256:238 move_pages:279:239 iopl:172:- ioperm:173:- modify_ldt:154:- uselib:134:- ustat:136:-
sysfs:139:- _sysctl:156:- clone:56:220 clone3:435:435 ioctl:16:29 ioprio_set:251:30 socket:41:198
fcntl:72:25 open:2:- openat:257:56 openat2:437:437 chmod:90:- fchmod:91:52 fchmodat:268:53 fchmodat2:452:452 creat:85:-
mknod:133:- mknodat:259:33
`

describe('the filter', () => {
  it('has the numbers that the headers of the kernel give its calls', () => {
    const judged = Object.entries(JUDGED_CALLS).map(([name, { x64, arm64 }]) => [name, x64, arm64] as const)
    const ours = [...REFUSED_CALLS, ...judged, ...MODE_CALLS].map(
      ([name, x64 = '-', arm64 = '-']) => `${name}:${x64}:${arm64}`,
    )
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

/** Every way to give a file the bits of set-user-ID and set-group-ID; prints the names of those that worked. */
const SET_ID = `
import ctypes, json, os, platform, stat, struct, tarfile
libc = ctypes.CDLL(None, use_errno=True)
worked = []
def tried(name, function):
    try: function()
    except OSError: return
    for entry in os.listdir('.'):
        if os.lstat(entry).st_mode & 0o6000: worked.append(name)
def made(name):
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o755))
    return name
os.umask(0)
how = struct.pack('QQQ', os.O_CREAT | os.O_WRONLY, 0o4755, 0)
def check(result):
    if result == -1: raise OSError(ctypes.get_errno(), 'call')
def unnamed():
    opened = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)
    os.link(f'/proc/self/fd/{opened}', 'unnamed', follow_symlinks=True)
def archived():
    with tarfile.open('/tmp/x.tar', 'w') as archive:
        entry = tarfile.TarInfo('archived')
        entry.mode = 0o6755
        archive.addfile(entry)
    os.system('tar -xpf /tmp/x.tar 2>/dev/null')
tried('chmod', lambda: os.chmod(made('a'), 0o4755))
tried('group', lambda: os.chmod(made('b'), 0o2755))
tried('fchmod', lambda: os.fchmod(os.open(made('c'), os.O_RDONLY), 0o4755))
tried('fchmodat', lambda: os.chmod(made('d'), 0o4755, dir_fd=os.open('.', os.O_RDONLY)))
tried('fchmodat2', lambda: check(libc.syscall(452, -100, made('e').encode(), 0o4755, 0)))
tried('open', lambda: os.open('f', os.O_CREAT | os.O_WRONLY, 0o6755))
tried('openat2', lambda: check(libc.syscall(437, -100, b'g', how, len(how))))
tried('mknod', lambda: os.mknod('h', stat.S_IFREG | 0o4755))
tried('creat', lambda: check(libc.creat(b'i', 0o4755)))
tried('O_TMPFILE', unnamed)
tried('tar', archived)
tried('install', lambda: os.system('install -m 4755 /bin/true j 2>/dev/null'))
print(json.dumps(worked))
`

const ORDINARY = `
chmod 640 kept/a
mkdir -m 1777 sticky
cp -a kept copy
cp --preserve=all kept/a copied
tar -cf kept.tar kept
mkdir out
tar -xpf kept.tar -C out
install -m 750 /bin/true installed
git init -q
git -c user.name=a -c user.email=a@b commit -qm empty --allow-empty
touch made
mkfifo pipe
cp -r shared copy-of-shared
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

  it('lets no program leave a file that runs as its owner or its group, however it is made', async () => {
    const workspace = await folderWith()
    const { stdout } = await runInSandbox(buildSandbox(sandboxSpec(workspace)), ['/usr/bin/python3', '-c', SET_ID], {
      cwd: workspace,
    })
    expect(JSON.parse(stdout)).toEqual([])
    const modes = readdirSync(workspace).map((name) => statSync(join(workspace, name)).mode & 0o6000)
    expect(modes).toEqual(modes.map(() => 0))
  })

  it('lets programs that set ordinary modes work', async () => {
    const workspace = await folderWith({ 'kept/a': 'text', 'kept/b/c': 'text' })
    mkdirSync(join(workspace, 'shared/below'), { recursive: true })
    chmodSync(join(workspace, 'shared'), 0o2755)
    const sandbox = buildSandbox(sandboxSpec(workspace))
    const { exitCode, stderr } = await runInSandbox(sandbox, ['/bin/sh', '-ec', ORDINARY], { cwd: workspace })
    expect([exitCode, stderr]).toEqual([0, ''])
    const modeOf = (path: string) => (statSync(join(workspace, path)).mode & 0o7777).toString(8)
    expect(['sticky', 'copy/a', 'out/kept/a', 'installed'].map(modeOf)).toEqual(['1777', '640', '640', '750'])
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
  for (const [index, value] of args.entries())
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(value)), true)
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
