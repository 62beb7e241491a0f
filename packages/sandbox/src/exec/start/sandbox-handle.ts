import { setMaxListeners } from 'node:events'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { CommandCgroup } from '../host/cgroup.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { Exit, HubMessage } from './protocol.ts'
import type { SandboxMessage, SpawnerLink } from './spawner-link.ts'
import { lostError, type StartFailure } from './start-error.ts'

/** The process of a running command. With a terminal, `stderr` ends immediately and all output is in `stdout`. */
export interface CommandProcess extends CommandStreams {
  /** The process id outside of the sandbox; undefined if it is not known. */
  readonly pid?: number
  /** Resolves when no process of the sandbox is left, even if somebody else still holds the command's pipes. */
  readonly exited: Promise<Exit>
  /** Ends the whole process tree: SIGTERM, then SIGKILL after `graceMs`. Resolves when nothing of it runs. */
  stop(graceMs?: number): Promise<void>
}

/** What a sandbox runs. */
export interface CommandScripts {
  readonly script: string
  readonly helper?: string
  /** The command is handed over after this resolves, and not if it rejects. */
  readonly ready?: Promise<void>
  /** The handle for the sandbox's next command, from `createNext`. */
  readonly next?: SandboxHandle
  /** Default: 30 s. */
  readonly startMs?: number
}

/** How far a sandbox has come. */
type State =
  /** Its cgroup is being created; messages to the spawner are queued. */
  | { readonly name: 'preparing'; readonly queue: HubMessage[] }
  /** The spawner has the prewarmed process or the sandbox; `ends` as soon as the spawner has created its pipes. */
  | { readonly name: 'waiting'; readonly ends?: PipeEnds }
  | { readonly name: 'running' }
  /** No command can be started in it any more; it has not ended yet. */
  | { readonly name: 'failed'; readonly ends?: PipeEnds }
  | { readonly name: 'ended' }

/** What a sandbox uses of the link to its spawner. */
export type SandboxLink = Pick<SpawnerLink, 'listen' | 'release' | 'send' | 'hold' | 'expect'>

/** How long a command that was handed over may take to start. A new sandbox takes 20 ms, or seconds if the machine is busy. */
const START_MS = 30_000

/**
 * The hub's handle of one sandbox in the spawner, from the prewarmed process to the end of one command. A reusable sandbox
 * has a handle for each command; the handle of the next one fails if the sandbox cannot be used again.
 */
export class SandboxHandle {
  /** Never rejects: how the command ended, or why that is not known. */
  readonly ended: Promise<Exit | StartFailure>
  readonly #link: SandboxLink
  readonly id: number
  #cgroup: CommandCgroup | undefined
  readonly #started = deferred<CommandStreams | StartFailure>()
  readonly #ended = deferred<Exit | StartFailure>()
  #state: State = { name: 'preparing', queue: [] }
  #pid: number | undefined
  #hasStarted = false

  /** Starts the prewarmed process for a sandbox like this one; without it, the handle is for a sandbox that exists. */
  constructor(link: SandboxLink, sandbox: SandboxLaunch | undefined, cgroup?: CommandCgroup) {
    this.#link = link
    this.#cgroup = cgroup
    this.ended = this.#ended.promise
    this.id = link.listen({
      onMessage: (message) => this.#receive(message),
      onLost: (how) => this.#lose(how),
    })
    if (!sandbox) this.#state = { name: 'waiting' }
    else if (cgroup) void this.#prewarmIn(cgroup, sandbox)
    else this.#prewarm(sandbox, [])
  }

  /** Creates the handle for the command after this one, to be passed to `start`. The sandbox's cgroup is then its own. */
  createNext(): SandboxHandle {
    const next = new SandboxHandle(this.#link, undefined, this.#cgroup)
    this.#cgroup = undefined
    return next
  }

  /** Turns the prewarmed process into a sandbox; `isWarm` if no command uses it yet. */
  open({ file, args, swappable, closed }: SandboxLaunch, { isWarm }: { isWarm: boolean }): void {
    this.#send({ type: 'open', id: this.id, file, args, swappable, closed, isWarm })
  }

  /** Starts the command in the sandbox. An abort ends it, from now until its end. */
  async start(
    { ready, next, ...scripts }: CommandScripts,
    signal: AbortSignal,
  ): Promise<CommandProcess | StartFailure> {
    const stop = () => void this.stop()
    // All commands of a call may share one signal.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', stop, { once: true })
    void this.ended.then(() => signal.removeEventListener('abort', stop))
    await ready?.catch(async (error: unknown) => {
      await this.stop()
      next?.cancel()
      throw error
    })
    const streams = await this.run({ ...scripts, next })
    if (!('kind' in streams) && !signal.aborted) return this.#process(streams)
    await this.ended
    // A command that has started must not be started again elsewhere.
    if ('kind' in streams) return this.#hasStarted ? { ...streams, kind: 'lost' } : streams
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy()
    return { kind: 'broken', reason: 'it was stopped', stderr: '' }
  }

  /** Hands over the command; returns its streams, or why it did not start. */
  run({ script, helper, next, startMs = START_MS }: CommandScripts): Promise<CommandStreams | StartFailure> {
    const letGo = this.#link.hold()
    void this.ended.then(letGo)
    if (this.hasFailed) next?.cancel()
    this.#send({ type: 'run', id: this.id, script, helper, nextId: this.hasFailed ? undefined : next?.id, startMs })
    this.#link.expect(this.#started.promise, startMs)
    return this.#started.promise
  }

  /** There will be no next command: the sandbox of this handle ends with the command before. */
  cancel(): void {
    if (this.#state.name !== 'ended') this.#end({ signal: 'SIGKILL' })
  }

  /** No command can be started in it any more. */
  get hasFailed(): boolean {
    return this.#state.name === 'failed' || this.#state.name === 'ended'
  }

  /** The command's process id outside of the sandbox; known once the command runs. */
  get pid(): number | undefined {
    return this.#pid
  }

  /** Ends everything in the sandbox: SIGTERM, then SIGKILL after `graceMs`. */
  async stop(graceMs?: number): Promise<void> {
    const letGo = this.#link.hold()
    this.#send({ type: 'stop', id: this.id, graceMs })
    this.#link.expect(this.ended, graceMs)
    await this.ended
    letGo()
  }

  #process({ stdin, stdout, stderr }: CommandStreams): CommandProcess {
    const exited = this.ended.then((how): Exit => {
      stdin.destroy()
      endWhenSilent(stdout)
      endWhenSilent(stderr)
      if ('kind' in how) throw lostError(how.reason)
      return how
    })
    // A caller that does not wait for the end need not handle its loss.
    exited.catch(() => {})
    return { pid: this.#pid, stdin, stdout, stderr, exited, stop: (graceMs) => this.stop(graceMs) }
  }

  async #prewarmIn(cgroup: CommandCgroup, sandbox: SandboxLaunch): Promise<void> {
    // Without a group, a command still has the limits of each process.
    this.#prewarm(sandbox, await cgroup.joinFiles().catch(() => []))
  }

  #prewarm({ level, env, seccomp, helper, isReusable = false }: SandboxLaunch, joinFiles: readonly string[]): void {
    const filter = seccomp && { fd: seccomp.fd, program: Buffer.from(seccomp.program).toString('base64') }
    const hasHelper = helper !== undefined
    this.#link.send({ type: 'prewarm', id: this.id, level, env, seccomp: filter, hasHelper, isReusable, joinFiles })
    // The spawner may have been lost meanwhile.
    if (this.#state.name !== 'preparing') return
    const { queue } = this.#state
    this.#state = { name: 'waiting' }
    for (const message of queue) this.#link.send(message)
  }

  #send(message: HubMessage): void {
    if (this.#state.name === 'preparing') this.#state.queue.push(message)
    else this.#link.send(message)
  }

  get #ends(): PipeEnds | undefined {
    return 'ends' in this.#state ? this.#state.ends : undefined
  }

  #receive(message: SandboxMessage): void {
    if (message.type === 'pipes') this.#openEnds(message.paths)
    if (message.type === 'running') this.#run(message.pid)
    if (message.type === 'refused' || message.type === 'broken') {
      this.#fail({ kind: message.type, reason: message.reason, stderr: this.#ends?.errors() ?? '' })
    }
    if (message.type === 'ended') {
      const { exitCode, signal, uncovered } = message
      this.#end({ exitCode, signal, uncovered })
    }
  }

  #openEnds(paths: readonly string[]): void {
    try {
      const ends = new PipeEnds(paths)
      if (this.#state.name === 'waiting' || this.#state.name === 'failed') this.#state = { ...this.#state, ends }
      else ends.close()
    } catch (error) {
      this.#fail({ kind: 'broken', reason: (error as Error).message, stderr: '', cause: error })
      void this.stop()
    }
    this.#link.send({ type: 'connected', id: this.id })
  }

  #run(pid: number | undefined): void {
    this.#pid = pid
    this.#hasStarted = true
    const ends = this.#ends
    if (!ends) return
    this.#state = { name: 'running' }
    this.#started.resolve(ends.toStreams())
  }

  #fail(failure: StartFailure): void {
    this.#state = { name: 'failed', ends: this.#ends }
    this.#started.resolve(failure)
  }

  #lose(how?: string): void {
    const failure: StartFailure = { kind: 'lost', reason: how ?? 'it was closed', stderr: '' }
    this.#fail(failure)
    this.#end(how === undefined ? { signal: 'SIGKILL' } : failure)
  }

  #end(how: Exit | StartFailure): void {
    const ends = this.#ends
    this.#state = { name: 'ended' }
    this.#link.release(this.id)
    // An empty group that is left behind costs nothing and does not affect the command's result.
    this.#cgroup?.remove().catch(() => {})
    ends?.close()
    // Without effect if the command has started, or has failed to start.
    this.#started.resolve({ kind: 'broken', reason: 'it ended before its command', stderr: '' })
    this.#ended.resolve(how)
  }
}

/** A promise that is resolved from outside. */
function deferred<Value>(): { readonly promise: Promise<Value>; readonly resolve: (value: Value) => void } {
  let resolve!: (value: Value) => void
  const promise = new Promise<Value>((done) => {
    resolve = done
  })
  return { promise, resolve }
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK } = constants
/** How long the pipes of a command that has ended may be silent before they count as closed. */
const GRACE_MS = 100

/** The hub's ends of a command's standard streams. */
interface CommandStreams {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
}

/** The hub's ends of a command's pipes: bare descriptors until the command runs, so that nothing is read before. */
class PipeEnds {
  readonly #fds: readonly [number, number, number]

  /** Opens them. This never blocks: the pipes exist, and their other ends are open. */
  constructor([stdin, stdout, stderr]: readonly string[]) {
    const opened: number[] = []
    try {
      opened.push(openSync(stdin!, O_WRONLY | O_NONBLOCK))
      opened.push(openSync(stdout!, O_RDONLY | O_NONBLOCK))
      opened.push(openSync(stderr!, O_RDONLY | O_NONBLOCK))
    } catch (error) {
      for (const fd of opened) closeSync(fd)
      throw error
    }
    this.#fds = opened as [number, number, number]
  }

  /** Turns them into streams, which then own the descriptors. */
  toStreams(): CommandStreams {
    const [stdin, stdout, stderr] = this.#fds
    const input = new Socket({ fd: stdin, readable: false, writable: true })
    // A command may close its input before it has read everything; the writer gets the error in its callback.
    input.on('error', () => {})
    return { stdin: input, stdout: readEnd(stdout), stderr: readEnd(stderr) }
  }

  /** What was written to standard error so far, at most a few lines. */
  errors(): string {
    try {
      const bytes = Buffer.alloc(4096)
      return bytes.toString('utf8', 0, readSync(this.#fds[2], bytes))
    } catch {
      // Nothing was written.
      return ''
    }
  }

  /** Closes descriptors that never became streams. */
  close(): void {
    for (const fd of this.#fds) closeSync(fd)
  }
}

/**
 * Ends a stream whose command has ended, once it is silent: a process elsewhere may have received the other end and
 * hold it forever. Data that is on its way is read first, however slow the reader is.
 */
function endWhenSilent(stream: Readable): void {
  const socket = stream as Socket
  let seen = -1
  const look = () => {
    if (socket.destroyed || socket.readableEnded) return
    const isSilent = socket.bytesRead === seen && socket.readableLength === 0
    if (isSilent) {
      socket.push(null)
      return
    }
    seen = socket.bytesRead
    // After a long pause of this process the timer is due before the data is read; this restores the order.
    setTimeout(() => setImmediate(look), GRACE_MS).unref()
  }
  look()
}

function readEnd(fd: number): Socket {
  return new OutputSocket({ fd, readable: true, writable: false })
}

/**
 * A socket whose buffers are garbage-collected in time. Each buffer takes 64 KB outside of the heap and a few bytes
 * inside, so the young space is only full, and collected, after 100 MB and more. Allocating some garbage per buffer
 * brings that forward: in a fresh process, 100 MB of output raise the memory by 20 MB instead of 40. In a process whose
 * young space has already grown, it changes little.
 */
class OutputSocket extends Socket {
  garbage: readonly number[] = []

  override push(chunk: unknown, encoding?: BufferEncoding): boolean {
    this.garbage = new Array<number>(512).fill(0)
    return super.push(chunk, encoding)
  }
}
