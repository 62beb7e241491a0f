import { type FilterArch, JUDGED_CALLS, REFUSED_CALLS } from './system-calls.ts'

const ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const
/** On x64 the same calls exist a second time from here on, with other numbers. */
const X32 = 0x40000000

// What the kernel hands to a filter: the number, the architecture, then six arguments of which the low half is looked at.
const NUMBER = 0
const ARCHITECTURE = 4
const argument = (index: number) => 16 + 8 * index

const ALLOW = 0x7fff0000
const KILL = 0x80000000
const fail = (errno: number) => 0x00050000 | errno
const EPERM = fail(1)
const ENOSYS = fail(38)
const EAFNOSUPPORT = fail(97)

/** Every flag of `clone` that makes a namespace. */
const NEW_NAMESPACE = 0x7e020000
/** Would type into the terminal, or paste its selection. */
const TIOCSTI = 0x5412
const TIOCLINUX = 0x541c
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const NETLINK_ROUTE = 0

type Step =
  | { readonly load: number }
  | { readonly test: 'equal' | 'atLeast' | 'anyBit'; readonly value: number; readonly then: string }
  | { readonly answer: number }
  | { readonly label: string }

/**
 * The filter of system calls for a jail, as the kernel reads it (classic BPF); undefined where none is known for the
 * processor. Refused calls fail with EPERM, so that programs say what went wrong and go on.
 */
export function seccompProgram(arch: string = process.arch): Uint8Array | undefined {
  return arch === 'x64' || arch === 'arm64' ? assemble(stepsFor(arch)) : undefined
}

function stepsFor(arch: FilterArch): Step[] {
  const refused = REFUSED_CALLS.map(([, x64, arm64]) => (arch === 'x64' ? x64 : arm64)).filter((n) => n !== undefined)
  const judged = (name: keyof typeof JUDGED_CALLS) => JUDGED_CALLS[name][arch]
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
    // Its flags are behind a pointer, where no filter sees them; without it libraries use clone.
    equal(judged('clone3'), 'missing'),
    ...refused.map((number) => equal(number, 'refuse')),
    { answer: ALLOW },

    { label: 'clone' },
    { load: argument(0) },
    { test: 'anyBit', value: NEW_NAMESPACE, then: 'refuse' },
    { answer: ALLOW },

    { label: 'ioctl' },
    { load: argument(1) },
    equal(TIOCSTI, 'refuse'),
    equal(TIOCLINUX, 'refuse'),
    { answer: ALLOW },

    // Other families than these are not bound by a network namespace (vsock), or are much kernel for few users.
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
  // A jump has one byte; longer ones would silently go elsewhere.
  if (jumpIfTrue < 0 || jumpIfTrue > 255) throw new RangeError(`A jump over ${jumpIfTrue} steps does not fit.`)
  bytes.setUint16(at * 8, code, true)
  bytes.setUint8(at * 8 + 2, jumpIfTrue)
  bytes.setUint8(at * 8 + 3, 0)
  bytes.setUint32(at * 8 + 4, value >>> 0, true)
}
