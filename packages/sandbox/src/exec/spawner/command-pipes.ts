import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { startProcess } from '../../start-process.ts'
import { forEachLine, type PrewarmMessage } from '../start/protocol.ts'
import type { ShellDescriptors } from '../start/shell-scripts.ts'

type Stdio = 'pipe' | 'ignore' | number

/** The pipes of one command: its own ends go to the sandbox, the other ends wait here until the hub has opened them. */
export class CommandPipes {
  /** Input, output, errors. */
  readonly #kept: readonly SparePipe[]
  /** Held for the hub: a command that is faster than the hub must wait for its input, not read end of file. */
  readonly #input: number
  #areHubEndsOpen = true

  constructor(kept: readonly SparePipe[]) {
    this.#kept = kept
    this.#input = openToWrite(kept[0]!)
  }

  /** Opens the pipes that a shell has created for its command; the last one closes when the shell becomes the command. */
  static fromShell(pid: number, at: ShellDescriptors): { readonly pipes: CommandPipes; readonly started: SparePipe } {
    const opened: SparePipe[] = []
    try {
      // Whatever is at these descriptors of a process in a sandbox, reading it must not block.
      const flags = constants.O_RDONLY | constants.O_NONBLOCK
      for (const fd of [at.stdin, at.stdout, at.stderr, at.script]) opened.push(reopen(pid, fd, flags))
      return { pipes: new CommandPipes(opened.slice(0, 3)), started: opened[3]! }
    } catch (error) {
      for (const pipe of opened) pipe.close()
      throw error
    }
  }

  /** Where the hub opens its ends: input, output, errors. */
  get paths(): readonly string[] {
    return this.#kept.map(({ path }) => path)
  }

  /** The hub has its own copies now. */
  closeHubEnds(): void {
    if (!this.#areHubEndsOpen) return
    this.#areHubEndsOpen = false
    closeSync(this.#input)
    for (const pipe of this.#kept) pipe.close()
  }
}

/** The descriptors that a prewarmed process is started with. */
export class ShellPipes {
  /** Of the first command, if the shell does not create them itself. */
  readonly command: CommandPipes | undefined
  readonly #ends: { readonly stdin: number; readonly stdout: number; readonly stderr: number } | undefined
  readonly #filter: { readonly fd: number; readonly pipe: SparePipe } | undefined

  /** Takes the pipes that a sandbox needs; one that is reusable creates those of its commands itself. */
  static async take(
    supply: PipeSupply,
    { seccomp, isReusable }: Pick<PrewarmMessage, 'seccomp' | 'isReusable'>,
  ): Promise<ShellPipes> {
    const filter = seccomp && { fd: seccomp.fd, pipe: filled((await supply.take(1))[0]!, seccomp.program) }
    return new ShellPipes(isReusable ? undefined : await supply.take(3), filter)
  }

  private constructor(
    pipes: readonly SparePipe[] | undefined,
    filter: { readonly fd: number; readonly pipe: SparePipe } | undefined,
  ) {
    this.#filter = filter
    if (!pipes) return
    const [stdin, stdout, stderr] = pipes
    this.#ends = { stdin: stdin!.fd, stdout: openToWrite(stdout!), stderr: openToWrite(stderr!) }
    this.command = new CommandPipes(pipes)
  }

  /** Its script, its own errors, and for the sandbox the inner shell's script and the command's pipes. */
  stdio(at: ShellDescriptors, hasHelper: boolean): Stdio[] {
    const stdio: Stdio[] = ['pipe', hasHelper ? 'pipe' : 'ignore', 'pipe']
    const last = Math.max(...Object.values(at), this.#filter?.fd ?? 0)
    for (let fd = stdio.length; fd <= last; fd++) stdio.push('ignore')
    if (this.#ends) {
      stdio[at.stdin] = this.#ends.stdin
      stdio[at.stdout] = this.#ends.stdout
      stdio[at.stderr] = this.#ends.stderr
    }
    stdio[at.report] = 'pipe'
    stdio[at.script] = 'pipe'
    if (this.#filter) stdio[this.#filter.fd] = this.#filter.pipe.fd
    return stdio
  }

  /** The sandbox has its own copies now. */
  closeSandboxEnds(): void {
    if (this.#ends) {
      closeSync(this.#ends.stdout)
      closeSync(this.#ends.stderr)
    }
    this.#filter?.pipe.close()
  }
}

function openToWrite({ path }: SparePipe): number {
  return openSync(path, constants.O_WRONLY)
}

function filled(pipe: SparePipe, program: string): SparePipe {
  const end = openToWrite(pipe)
  writeSync(end, Buffer.from(program, 'base64'))
  closeSync(end)
  return pipe
}

/** A pipe that nobody writes to yet. Either end can be opened by its path, as often as needed, also by the hub. */
export interface SparePipe {
  /** The end to read from. */
  readonly fd: number
  readonly path: string
  /** Closes it; ends that were opened by path stay open. */
  readonly close: () => void
}

/** Calls back when nobody can write to the pipe any more, and closes it. Discards what was written. */
export function whenClosed({ fd }: SparePipe, onClose: () => void): void {
  const pipe = new Socket({ fd, readable: true, writable: false })
  pipe.on('error', () => {})
  pipe.resume().on('close', onClose)
}

/** Provides pipes for commands. */
export interface PipeSupply {
  /** Whether shells create real pipes here, so that one inside a sandbox can create those of its command. */
  readonly shellsCreatePipes: boolean
  take(count: number): Promise<readonly SparePipe[]>
  /** Closes the pipes that were not taken. */
  close(): void
}

const BATCH = [3, 4, 5, 6, 7, 8, 9]
const ENOUGH = 2 * BATCH.length

/**
 * Real pipes, created by a shell that is kept for it: Node creates only socket pairs, and a program whose output is a
 * socket cannot open /dev/stdout. The shell keeps a here-document open, which is a pipe, and we open that through /proc:
 * no process, no file, well below 0.1 ms each. Throws if the shell's here-documents are files, or without /proc.
 */
export async function openPipeSupply(): Promise<PipeSupply> {
  const shell = startProcess('/bin/sh', [], { stdio: ['pipe', 'pipe', 'ignore'], env: {}, cwd: '/' })
  const shellSession = openSession(shell.stdin!, shell.stdout!)
  shell.on('error', shellSession.fail)
  shell.on('exit', () => shellSession.fail(new Error('the shell that makes pipes has ended')))
  const spare: SparePipe[] = []
  let filling: Promise<void> | undefined
  const fill = () => {
    filling ??= createPipes(shellSession.run, shell.pid!)
      .then((pipes) => void spare.push(...pipes))
      .finally(() => {
        filling = undefined
      })
    return filling
  }
  await fill()
  return {
    shellsCreatePipes: true,
    async take(count) {
      while (spare.length < count) await fill()
      const taken = spare.splice(0, count)
      // If this fails, it fails again for the caller who needs it.
      if (spare.length < ENOUGH) fill().catch(() => {})
      return taken
    },
    close() {
      shell.kill()
      for (const pipe of spare.splice(0)) pipe.close()
    },
  }
}

async function createPipes(run: (text: string) => Promise<void>, pid: number): Promise<SparePipe[]> {
  // Not empty, since bash uses /dev/null for an empty here-document.
  await run(`exec ${BATCH.map((fd) => `${fd}<<E`).join(' ')}\n${'.\nE\n'.repeat(BATCH.length)}`)
  const pipes = BATCH.map((fd) => reopen(pid, fd))
  // As long as the shell held an end, nobody would notice that the other one was closed.
  await run(`exec ${BATCH.map((fd) => `${fd}<&-`).join(' ')}\n`)
  return pipes
}

function reopen(pid: number, number: number, flags = constants.O_RDONLY): SparePipe {
  const fd = openSync(`/proc/${pid}/fd/${number}`, flags)
  if (!fstatSync(fd).isFIFO()) throw new Error('here-documents of /bin/sh are not pipes')
  readSync(fd, Buffer.alloc(8))
  // A command that runs as another user may open /dev/stdout too. Nobody else can name the pipe.
  fchmodSync(fd, 0o666)
  return { fd, path: `/proc/${process.pid}/fd/${fd}`, close: () => closeSync(fd) }
}

/** Runs text in the shell, one at a time, and waits until it is done. */
function openSession(input: Writable, output: Readable) {
  let failed: Error | undefined
  let waiting: { done: () => void; fail: (error: Error) => void } | undefined
  forEachLine(output, () => waiting?.done())
  input.on('error', () => {})
  return {
    run(text: string): Promise<void> {
      if (failed) return Promise.reject(failed)
      return new Promise((done, fail) => {
        waiting = { done, fail }
        input.write(`${text}echo\n`)
      })
    },
    fail(error: Error): void {
      failed = error
      waiting?.fail(error)
    },
  }
}

const FIFO_BATCH = 24

/**
 * Named pipes in a private folder, for systems without /proc. On Linux, a program that opens /dev/stdin after its input
 * was closed would wait forever on a named pipe, which is why they are the second choice.
 */
export async function openFifoSupply(): Promise<PipeSupply> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-pipes-'))
  const spare: string[] = []
  let created = 0
  const create = async () => {
    const paths = Array.from({ length: FIFO_BATCH }, () => join(folder, String(created++)))
    // The folder keeps others out; inside it, a command that runs as another user may open its own pipes.
    const child = spawn('/usr/bin/mkfifo', ['-m', '666', ...paths], { stdio: 'ignore', env: {} })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`mkfifo ended with ${code}`)
    spare.push(...paths)
  }
  await create()
  return {
    shellsCreatePipes: false,
    async take(count) {
      while (spare.length < count) await create()
      return spare.splice(0, count).map(openFifo)
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function openFifo(path: string): SparePipe {
  // Opening one end waits for the other, unless it is opened for both.
  const both = openSync(path, constants.O_RDWR)
  const fd = openSync(path, constants.O_RDONLY)
  closeSync(both)
  if (existsSync(`/proc/self/fd/${fd}`)) {
    // Without a name, nothing that a command changes about it affects anybody's file.
    unlinkSync(path)
    return { fd, path: `/proc/${process.pid}/fd/${fd}`, close: () => closeSync(fd) }
  }
  const close = () => {
    closeSync(fd)
    unlinkSync(path)
  }
  return { fd, path, close }
}

const O_CLOEXEC = 0o2000000

/**
 * Closes descriptors that this process inherited and would pass on to every child: a folder among them would be a way
 * out of any sandbox. Descriptors that Node opens itself are marked as not inheritable. To be called first thing in the
 * process that starts commands; `keep` are those that it received on purpose. Returns what it closed.
 */
export function closeInherited(keep: readonly number[] = []): number[] {
  const closed: number[] = []
  for (const name of openDescriptors()) {
    const descriptor = Number(name)
    if (descriptor <= 2 || keep.includes(descriptor) || !isInheritable(descriptor)) continue
    closeSync(descriptor)
    closed.push(descriptor)
  }
  return closed
}

function openDescriptors(): string[] {
  try {
    return readdirSync('/proc/self/fd')
  } catch {
    // No /proc, as on macOS: nothing is known.
    return []
  }
}

function isInheritable(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? ''
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0
  } catch {
    // It was the descriptor of the list itself.
    return false
  }
}
