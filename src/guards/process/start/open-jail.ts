import type { CommandLimits, Jail } from '../jail/jail.ts'
import { Deferred } from './deferred.ts'
import { type CommandStreams, PipeEnds } from './pipe-ends.ts'
import type { HubMessage } from './protocol.ts'
import type { JailMessage, SpawnerLink } from './spawner-link.ts'
import type { Exit } from './started.ts'

/** Bounds what a group of processes uses beyond what each may. */
export interface CommandCgroup {
  /** Files in which a process writes 0 to be in it, with all that it starts from then on. */
  entrances(): Promise<readonly string[]>
  remove(): Promise<void>
}

/** Makes such a group; undefined where the machine has none to give. */
export type CreateCgroup = (limits: CommandLimits) => CommandCgroup | undefined

/** Why a command did not start, or why its end is not known. */
export interface StartFailure {
  /** `refused` by the shell inside the jail, `broken` jail, `lost` with the spawner. */
  readonly kind: 'refused' | 'broken' | 'lost'
  readonly reason: string
  /** What the shell wrote about it. */
  readonly words: string
  /** What was thrown in this process. */
  readonly cause?: unknown
}

/** A jail from its seed on: it waits to be made, waits for its one command, runs it, or has ended. */
export class OpenJail {
  /** Never fails: how the command ended, or why that is not known. */
  readonly ended: Promise<Exit | StartFailure>
  readonly #link: SpawnerLink
  readonly #id: number
  readonly #cgroup: CommandCgroup | undefined
  readonly #started = new Deferred<CommandStreams | StartFailure>()
  readonly #over = new Deferred<Exit | StartFailure>()
  /** What is said before the seed is there; absent since then. */
  #early: HubMessage[] | undefined = []
  #ends: PipeEnds | undefined
  #pid: number | undefined
  #hasFailed = false

  /** Starts the seed, for a jail like this one. */
  constructor(link: SpawnerLink, jail: Jail, cgroup?: CommandCgroup) {
    this.#link = link
    this.#cgroup = cgroup
    this.ended = this.#over.promise
    this.#id = link.listen({
      told: (message) => this.#told(message),
      lost: (how) => this.#lost(how),
    })
    if (cgroup) void this.#sowInto(cgroup, jail)
    else this.#sow(jail, [])
  }

  /** Makes the seed a jail. */
  open({ file, args, swappable, closed }: Jail, { isAhead }: { isAhead: boolean }): void {
    this.#send({ type: 'open', id: this.#id, file, args, swappable, closed, isAhead })
  }

  /** Gives it its command; the streams of it, or why it did not start. */
  run(script: string, companion?: string): Promise<CommandStreams | StartFailure> {
    const letGo = this.#link.hold()
    void this.ended.then(letGo)
    this.#send({ type: 'run', id: this.#id, script, companion })
    return this.#started.promise
  }

  /** No command can be started in it any more. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** What its command is outside of it; known while that runs. */
  get pid(): number | undefined {
    return this.#pid
  }

  /** Ends all of it; `graceMs` after it was asked to, by force. */
  async stop(graceMs?: number): Promise<void> {
    const letGo = this.#link.hold()
    this.#send({ type: 'stop', id: this.#id, graceMs })
    await this.ended
    letGo()
  }

  async #sowInto(cgroup: CommandCgroup, jail: Jail): Promise<void> {
    // Without a group, a command still has the limits of each process.
    this.#sow(jail, await cgroup.entrances().catch(() => []))
  }

  #sow({ level, env, seccomp, companion }: Jail, entrances: readonly string[]): void {
    const filter = seccomp && { fd: seccomp.fd, program: Buffer.from(seccomp.program).toString('base64') }
    const parts = { level, env, seccomp: filter, hasCompanion: companion !== undefined, entrances }
    this.#link.send({ type: 'seed', id: this.#id, ...parts })
    for (const message of this.#early ?? []) this.#link.send(message)
    this.#early = undefined
  }

  #send(message: HubMessage): void {
    if (this.#early) this.#early.push(message)
    else this.#link.send(message)
  }

  #told(message: JailMessage): void {
    if (message.type === 'pipes') this.#openEnds(message.paths)
    if (message.type === 'running') this.#runs(message.pid)
    if (message.type === 'refused' || message.type === 'broken') {
      this.#fail({ kind: message.type, reason: message.reason, words: this.#ends?.errors() ?? '' })
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
      this.#fail({ kind: 'broken', reason: (error as Error).message, words: '', cause: error })
      void this.stop()
    }
    this.#link.send({ type: 'taken', id: this.#id })
  }

  #runs(pid: number | undefined): void {
    this.#pid = pid
    if (this.#ends) this.#started.resolve(this.#ends.toStreams())
    this.#ends = undefined
  }

  #fail(failure: StartFailure): void {
    this.#hasFailed = true
    this.#started.resolve(failure)
  }

  #lost(how?: string): void {
    const failure: StartFailure = { kind: 'lost', reason: how ?? 'it was closed', words: '' }
    this.#fail(failure)
    this.#end(how === undefined ? { signal: 'SIGKILL' } : failure)
  }

  #end(how: Exit | StartFailure): void {
    this.#link.forget(this.#id)
    // An empty group that stays costs nothing, and the command's result is no worse for it.
    this.#cgroup?.remove().catch(() => {})
    this.#ends?.close()
    this.#ends = undefined
    this.#over.resolve(how)
  }
}
