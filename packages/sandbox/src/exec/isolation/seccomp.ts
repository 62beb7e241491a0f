const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
/** From this number on, x64 has the same system calls a second time, under other numbers. */
const X32 = 0x40000000

// What the kernel passes to a filter: the number, the architecture, then six arguments, of which the low half is checked.
const NUMBER = 0
const ARCHITECTURE = 4
const argument = (index: number) => 16 + 8 * index

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const fail = (errno: number) => 0x00050000 | errno
const EPERM = fail(1)
const ENOSYS = fail(38)
const EAFNOSUPPORT = fail(97)

/** Every flag of `clone` that creates a namespace. */
const NEW_NAMESPACE = 0x7e020000
/** These type into the terminal, or paste its selection. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const NETLINK_ROUTE = 0
/** With these bits, a file runs with the rights of its owner or group. */
const SET_ID = 0o6000
/** The flags with which `open` uses its mode: O_CREAT and O_TMPFILE. */
const CREATES = 0o20000100
/** A lease or a delegation delays every program that opens the file or changes the folder by up to 45 seconds. */
const F_SETLEASE = 1024
const F_SETDELEG = 1040

type Step =
  | { readonly load: number }
  | { readonly test: 'equal' | 'atLeast' | 'anyBit'; readonly value: number; readonly then: string }
  | { readonly answer: number }
  | { readonly label: string }

/**
 * The filter of system calls for a sandbox, in the form that the kernel reads (classic BPF); undefined if none is known
 * for the processor. Refused calls fail with EPERM, so that programs report what went wrong and continue.
 */
export function seccompProgram(arch: string = process.arch): Uint8Array | undefined {
  return arch === 'x64' || arch === 'arm64' ? assemble(stepsFor(arch)) : undefined
}

function stepsFor(arch: FilterArch): Step[] {
  const refused = REFUSED_CALLS.map(([, x64, arm64]) => (arch === 'x64' ? x64 : arm64)).filter((n) => n !== undefined)
  const judged = (name: Exclude<keyof typeof JUDGED_CALLS, 'open'>) => JUDGED_CALLS[name][arch]
  const withMode = MODE_CALLS.flatMap(([, x64, arm64, at]) => {
    const number = arch === 'x64' ? x64 : arm64
    return number === undefined ? [] : [equal(number, `mode${at}`)]
  })
  return [
    { load: ARCHITECTURE },
    equal(ARCH[arch], 'native'),
    { answer: KILL },
    { label: 'native' },
    { load: NUMBER },
    ...(arch === 'x64' ? [{ test: 'atLeast', value: X32, then: 'refuse' } as const] : []),
    equal(judged('clone'), 'clone'),
    equal(judged('ioctl'), 'ioctl'),
    equal(judged('socket'), 'socket'),
    equal(judged('ioprio_set'), 'ioprio'),
    equal(judged('fcntl'), 'fcntl'),
    equal(judged('openat'), 'openat'),
    ...(arch === 'x64' ? [equal(JUDGED_CALLS.open.x64, 'open')] : []),
    ...withMode,
    // What they do is behind a pointer, where no filter sees it; without them, libraries use clone and openat.
    equal(judged('clone3'), 'missing'),
    equal(judged('openat2'), 'missing'),
    ...refused.map((number) => equal(number, 'refuse')),
    { answer: ALLOW },

    { label: 'fcntl' },
    { load: argument(1) },
    equal(F_SETLEASE, 'refuse'),
    equal(F_SETDELEG, 'refuse'),
    { answer: ALLOW },

    // Without these flags, the mode is whatever happened to be in its place.
    { label: 'open' },
    { load: argument(1) },
    { test: 'anyBit', value: CREATES, then: 'mode2' },
    { answer: ALLOW },
    { label: 'openat' },
    { load: argument(2) },
    { test: 'anyBit', value: CREATES, then: 'mode3' },
    { answer: ALLOW },
    ...[1, 2, 3].flatMap((index): Step[] => [
      { label: `mode${index}` },
      { load: argument(index) },
      { test: 'anyBit', value: SET_ID, then: 'refuse' },
      { answer: ALLOW },
    ]),

    { label: 'clone' },
    { load: argument(0) },
    { test: 'anyBit', value: NEW_NAMESPACE, then: 'refuse' },
    { answer: ALLOW },

    { label: 'ioctl' },
    { load: argument(1) },
    equal(TIOCSTI, 'refuse'),
    equal(TIOCLINUX, 'refuse'),
    { answer: ALLOW },

    // Of itself only: the next command in this sandbox inherits the priority of another process.
    { label: 'ioprio' },
    { load: argument(1) },
    equal(0, 'allow'),
    { answer: EPERM },

    // Other families are not restricted by a network namespace (vsock), or are much kernel code for few users.
    { label: 'socket' },
    { load: argument(0) },
    equal(AF_UNIX, 'allow'),
    equal(AF_INET, 'allow'),
    equal(AF_INET6, 'allow'),
    equal(AF_NETLINK, 'netlink'),
    { answer: EAFNOSUPPORT },
    { label: 'netlink' },
    { load: argument(2) },
    equal(NETLINK_ROUTE, 'allow'),
    { answer: EAFNOSUPPORT },

    { label: 'allow' },
    { answer: ALLOW },
    { label: 'missing' },
    { answer: ENOSYS },
    { label: 'refuse' },
    { answer: EPERM },
  ]
}

function equal(value: number, then: string): Step {
  return { test: 'equal', value, then }
}

const JUMP = { equal: 0x15, atLeast: 0x35, anyBit: 0x45 } as const

function assemble(steps: readonly Step[]): Uint8Array {
  const places = new Map<string, number>()
  let size = 0
  for (const step of steps) {
    if ('label' in step) places.set(step.label, size)
    else size++
  }
  const bytes = new DataView(new ArrayBuffer(size * 8))
  let at = 0
  for (const step of steps) {
    if ('label' in step) continue
    if ('load' in step) write(bytes, at, 0x20, 0, step.load)
    else if ('answer' in step) write(bytes, at, 0x06, 0, step.answer)
    else write(bytes, at, JUMP[step.test], places.get(step.then)! - at - 1, step.value)
    at++
  }
  return new Uint8Array(bytes.buffer)
}

function write(bytes: DataView, at: number, code: number, jumpIfTrue: number, value: number): void {
  // A jump has one byte; a longer one would silently lead elsewhere.
  if (jumpIfTrue < 0 || jumpIfTrue > 255) throw new RangeError(`A jump over ${jumpIfTrue} steps does not fit.`)
  bytes.setUint16(at * 8, code, true)
  bytes.setUint8(at * 8 + 2, jumpIfTrue)
  bytes.setUint8(at * 8 + 3, 0)
  bytes.setUint32(at * 8 + 4, value >>> 0, true)
}

/** A processor for which there is a filter. */
export type FilterArch = 'x64' | 'arm64'

/** System calls that no command needs and that have been used to escape from sandboxes: name, number on x64, number on arm64. */
export const REFUSED_CALLS: ReadonlyArray<readonly [name: string, x64: number | undefined, arm64: number | undefined]> =
  [
    // Access to other processes.
    ['ptrace', 101, 117],
    ['process_vm_readv', 310, 270],
    ['process_vm_writev', 311, 271],
    ['process_madvise', 440, 440],
    ['process_mrelease', 448, 448],
    ['kcmp', 312, 272],
    ['pidfd_getfd', 438, 438],
    // Kernel work that bypasses the filter, or large parts of the kernel that few programs need.
    ['io_uring_setup', 425, 425],
    ['io_uring_enter', 426, 426],
    ['io_uring_register', 427, 427],
    ['bpf', 321, 280],
    ['perf_event_open', 298, 241],
    ['userfaultfd', 323, 282],
    ['lookup_dcookie', 212, 18],
    // Its events are counted for the whole machine: one command could take all of them.
    ['io_setup', 206, 0],
    ['fanotify_init', 300, 262],
    // Keyrings belong to no namespace: the hub's own would be in reach.
    ['keyctl', 250, 219],
    ['add_key', 248, 217],
    ['request_key', 249, 218],
    // Files by handle, bypassing the mounts.
    ['open_by_handle_at', 304, 265],
    // Mounts and namespaces.
    ['mount', 165, 40],
    ['umount2', 166, 39],
    ['pivot_root', 155, 41],
    ['chroot', 161, 51],
    ['fsopen', 430, 430],
    ['fsconfig', 431, 431],
    ['fsmount', 432, 432],
    ['fspick', 433, 433],
    ['move_mount', 429, 429],
    ['open_tree', 428, 428],
    ['open_tree_attr', 467, 467],
    ['mount_setattr', 442, 442],
    ['unshare', 272, 97],
    ['setns', 308, 268],
    // The machine as a whole.
    ['kexec_load', 246, 104],
    ['kexec_file_load', 320, 294],
    ['init_module', 175, 105],
    ['finit_module', 313, 273],
    ['delete_module', 176, 106],
    ['reboot', 169, 142],
    ['swapon', 167, 224],
    ['swapoff', 168, 225],
    ['acct', 163, 89],
    ['quotactl', 179, 60],
    ['quotactl_fd', 443, 443],
    ['syslog', 103, 116],
    ['settimeofday', 164, 170],
    ['clock_settime', 227, 112],
    ['clock_adjtime', 305, 266],
    ['adjtimex', 159, 171],
    ['sethostname', 170, 161],
    ['setdomainname', 171, 162],
    ['vhangup', 153, 58],
    ['nfsservctl', 180, 42],
    ['migrate_pages', 256, 238],
    ['move_pages', 279, 239],
    ['iopl', 172, undefined],
    ['ioperm', 173, undefined],
    ['modify_ldt', 154, undefined],
    ['uselib', 134, undefined],
    ['ustat', 136, undefined],
    ['sysfs', 139, undefined],
    ['_sysctl', 156, undefined],
  ]

/** Calls that are refused for some arguments only. */
export const JUDGED_CALLS = {
  clone: { x64: 56, arm64: 220 },
  clone3: { x64: 435, arm64: 435 },
  ioctl: { x64: 16, arm64: 29 },
  ioprio_set: { x64: 251, arm64: 30 },
  socket: { x64: 41, arm64: 198 },
  fcntl: { x64: 72, arm64: 25 },
  open: { x64: 2, arm64: undefined },
  openat: { x64: 257, arm64: 56 },
  openat2: { x64: 437, arm64: 437 },
} as const

/**
 * Calls that set the mode of a file, and the position of the mode among their arguments. For mkdir the kernel ignores
 * these bits, and `cp -r` passes those of the original.
 */
export const MODE_CALLS: ReadonlyArray<
  readonly [name: string, x64: number | undefined, arm64: number | undefined, mode: 1 | 2]
> = [
  ['chmod', 90, undefined, 1],
  ['fchmod', 91, 52, 1],
  ['fchmodat', 268, 53, 2],
  ['fchmodat2', 452, 452, 2],
  ['creat', 85, undefined, 1],
  ['mknod', 133, undefined, 1],
  ['mknodat', 259, 33, 2],
]
