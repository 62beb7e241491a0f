import type { CommandLimits, Jail } from '../jail/jail.ts'
import { Deferred } from './deferred.ts'
import { companionScript } from './launch-script.ts'
import { type CommandStreams, PipeEnds } from './pipe-ends.ts'
import type { JailMessage, SpawnerLink } from './spawner-link.ts'
import type { Exit } from './started.ts'

/** Bounds what a group of processes uses beyond what each may. */
export interface CommandCgroup {
  /** What is returned is waited for before the process gets its command. */
  add(pid: number): void | Promise<void>
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
}

/** A jail that waits for its one command, runs it, or has ended. */
export class OpenJail {
  /** Never fails: how the command ended, or why that is not known. */
  readonly ended: Promise<Exit | StartFailure>
  readonly #link: SpawnerLink
  readonly #jail: Jail
  readonly #id: number
  readonly #cgroup: CommandCgroup | undefined
  readonly #ready = new Deferred<void>()
  readonly #started = new Deferred<CommandStreams | StartFailure>()
  readonly #over = new Deferred<Exit | StartFailure>()
  #ends: PipeEnds | undefined

  constructor(link: SpawnerLink, jail: Jail, { isAhead, cgroup }: { isAhead: boolean; cgroup?: CommandCgroup }) {
    this.#link = link
    this.#jail = jail
    this.#cgroup = cgroup
    this.ended = this.#over.promise
    this.#id = link.listen({
      told: (message) => this.#told(message),
      lost: (how) => this.#lost(how),
    })
    const { level, file, args, env, seccomp, swappable } = jail
    const filter = seccomp && { fd: seccomp.fd, program: Buffer.from(seccomp.program).toString('base64') }
    const parts = { level, file, args, env, swappable, seccomp: filter, hasCompanion: jail.companion !== undefined }
    link.send({ type: 'open', id: this.#id, ...parts, isAhead })
  }

  /** Gives it its command; the streams of it, or why it did not start. */
  async run(script: string): Promise<CommandStreams | StartFailure> {
    const letGo = this.#link.hold()
    void this.ended.then(letGo)
    // Its processes are counted before the command is among them.
    if (this.#cgroup) await Promise.race([this.#ready.promise, this.ended])
    this.#link.send({ type: 'run', id: this.#id, script, companion: companionScript(this.#jail) })
    return this.#started.promise
  }

  /** Ends all of it. */
  async stop(): Promise<void> {
    const letGo = this.#link.hold()
    this.#link.send({ type: 'stop', id: this.#id })
    await this.ended
    letGo()
  }

  #told(message: JailMessage): void {
    if (message.type === 'pipes') this.#openEnds(message.paths)
    if (message.type === 'ready') this.#ready.resolve(this.#count(message.pids))
    if (message.type === 'running') this.#runs()
    if (message.type === 'refused' || message.type === 'broken') {
      this.#started.resolve({ kind: message.type, reason: message.reason, words: this.#ends?.errors() ?? '' })
    }
    if (message.type === 'ended') this.#end({ exitCode: message.exitCode, signal: message.signal })
  }

  #openEnds(paths: readonly string[]): void {
    try {
      this.#ends = new PipeEnds(paths)
    } catch (error) {
      this.#started.resolve({ kind: 'broken', reason: (error as Error).message, words: '' })
      void this.stop()
    }
    this.#link.send({ type: 'taken', id: this.#id })
  }

  async #count(pids: readonly number[]): Promise<void> {
    // One that cannot be taken in still has the limits of each process.
    await Promise.allSettled(pids.map(async (pid) => this.#cgroup?.add(pid)))
  }

  #runs(): void {
    if (this.#ends) this.#started.resolve(this.#ends.toStreams())
    this.#ends = undefined
  }

  #lost(how?: string): void {
    const failure: StartFailure = { kind: 'lost', reason: how ?? 'it was closed', words: '' }
    this.#started.resolve(failure)
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
