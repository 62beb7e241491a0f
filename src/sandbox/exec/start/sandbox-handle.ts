import { setMaxListeners } from 'node:events'
import type { CommandCgroup } from '../host/cgroup.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { type CommandStreams, endWhenSilent, PipeEnds } from './pipe-ends.ts'
import type { Exit, HubMessage } from './protocol.ts'
import type { SandboxMessage, SpawnerLink } from './spawner-link.ts'
import { lostError } from './start-error.ts'

/** Why a command did not start, or why its end is not known. */
export interface StartFailure {
  /** `refused` by the shell inside the sandbox, `broken` sandbox, `lost` with the spawner. */
  readonly kind: 'refused' | 'broken' | 'lost'
  readonly reason: string
  /** What the shell wrote to its standard error. */
  readonly stderr: string
  /** The error that was thrown in this process. */
  readonly cause?: unknown
}

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
}

/**
 * - `preparing`: its cgroup is being created; messages are queued.
 * - `waiting`: the spawner has the prewarmed process or the sandbox; there is no running command yet.
 * - `failed`: no command can be started in it any more.
 */
type State = 'preparing' | 'waiting' | 'running' | 'failed' | 'ended'

/** The hub's handle of one sandbox in the spawner, from the prewarmed process to the end of its one command. */
export class SandboxHandle {
  /** Never rejects: how the command ended, or why that is not known. */
  readonly ended: Promise<Exit | StartFailure>
  readonly #link: SpawnerLink
  readonly #id: number
  readonly #cgroup: CommandCgroup | undefined
  readonly #started = deferred<CommandStreams | StartFailure>()
  readonly #ended = deferred<Exit | StartFailure>()
  readonly #queue: HubMessage[] = []
  #state: State = 'preparing'
  #ends: PipeEnds | undefined
  #pid: number | undefined

  /** Starts the prewarmed process, for a sandbox like this one. */
  constructor(link: SpawnerLink, sandbox: SandboxLaunch, cgroup?: CommandCgroup) {
    this.#link = link
    this.#cgroup = cgroup
    this.ended = this.#ended.promise
    this.#id = link.listen({
      onMessage: (message) => this.#receive(message),
      onLost: (how) => this.#lose(how),
    })
    if (cgroup) void this.#prewarmIn(cgroup, sandbox)
    else this.#prewarm(sandbox, [])
  }

  /** Turns the prewarmed process into a sandbox; `isWarm` if there is no command for it yet. */
  open({ file, args, swappable, closed }: SandboxLaunch, { isWarm }: { isWarm: boolean }): void {
    this.#send({ type: 'open', id: this.#id, file, args, swappable, closed, isWarm })
  }

  /** Starts the command in the sandbox. An abort ends it, from now until its end. */
  async start({ script, helper, ready }: CommandScripts, signal: AbortSignal): Promise<CommandProcess | StartFailure> {
    const stop = () => void this.stop()
    // All commands of a call may share one signal.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', stop, { once: true })
    void this.ended.then(() => signal.removeEventListener('abort', stop))
    await ready?.catch(async (error: unknown) => {
      await this.stop()
      throw error
    })
    const streams = await this.run(script, helper)
    if (!('kind' in streams) && !signal.aborted) return this.#process(streams)
    await this.ended
    if ('kind' in streams) return streams
    for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy()
    return { kind: 'broken', reason: 'it was stopped', stderr: '' }
  }

  /** Hands over the command; returns its streams, or why it did not start. */
  run(script: string, helper?: string): Promise<CommandStreams | StartFailure> {
    const letGo = this.#link.hold()
    void this.ended.then(letGo)
    this.#send({ type: 'run', id: this.#id, script, helper })
    return this.#started.promise
  }

  /** No command can be started in it any more. */
  get hasFailed(): boolean {
    return this.#state === 'failed' || this.#state === 'ended'
  }

  /** The command's process id outside of the sandbox; known while the command runs. */
  get pid(): number | undefined {
    return this.#pid
  }

  /** Ends everything in the sandbox: SIGTERM, then SIGKILL after `graceMs`. */
  async stop(graceMs?: number): Promise<void> {
    const letGo = this.#link.hold()
    this.#send({ type: 'stop', id: this.#id, graceMs })
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

  #prewarm({ level, env, seccomp, helper }: SandboxLaunch, joinFiles: readonly string[]): void {
    const filter = seccomp && { fd: seccomp.fd, program: Buffer.from(seccomp.program).toString('base64') }
    const hasHelper = helper !== undefined
    this.#link.send({ type: 'prewarm', id: this.#id, level, env, seccomp: filter, hasHelper, joinFiles })
    if (this.#state === 'preparing') this.#state = 'waiting'
    for (const message of this.#queue.splice(0)) this.#link.send(message)
  }

  #send(message: HubMessage): void {
    if (this.#state === 'preparing') this.#queue.push(message)
    else this.#link.send(message)
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
      this.#ends = new PipeEnds(paths)
    } catch (error) {
      this.#fail({ kind: 'broken', reason: (error as Error).message, stderr: '', cause: error })
      void this.stop()
    }
    this.#link.send({ type: 'connected', id: this.#id })
  }

  #run(pid: number | undefined): void {
    this.#pid = pid
    if (!this.#ends) return
    this.#state = 'running'
    this.#started.resolve(this.#ends.toStreams())
    this.#ends = undefined
  }

  #fail(failure: StartFailure): void {
    this.#state = 'failed'
    this.#started.resolve(failure)
  }

  #lose(how?: string): void {
    const failure: StartFailure = { kind: 'lost', reason: how ?? 'it was closed', stderr: '' }
    this.#fail(failure)
    this.#end(how === undefined ? { signal: 'SIGKILL' } : failure)
  }

  #end(how: Exit | StartFailure): void {
    this.#state = 'ended'
    this.#link.release(this.#id)
    // An empty group that is left behind costs nothing and does not affect the command's result.
    this.#cgroup?.remove().catch(() => {})
    this.#ends?.close()
    this.#ends = undefined
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
