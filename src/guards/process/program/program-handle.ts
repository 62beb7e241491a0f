import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../../../clock.ts'
import type { ProgramEnd, RunningProgram, SandboxLevel } from '../../../contracts/commands.ts'
import type { OpenJail } from '../start/open-jail.ts'
import { signalProcess } from '../start/spawner/process-tree.ts'
import type { Started } from '../start/started.ts'

/** A program that runs, and what it runs in. */
export interface ProgramParts {
  readonly jail: Pick<OpenJail, 'pid' | 'stop'>
  readonly level: SandboxLevel
  readonly started: Started
  readonly clock: Clock
  /** Called once, when nothing of it is left. */
  readonly leave: () => Promise<void>
}

const GRACE_MS = 2_000
const LONGEST_GRACE_MS = 600_000

/** A program that was started, as its user has it. */
export class ProgramHandle implements RunningProgram {
  readonly pid: number
  readonly sandbox: SandboxLevel
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<ProgramEnd>
  readonly #parts: ProgramParts

  constructor(parts: ProgramParts) {
    const { jail, level, started } = parts
    this.#parts = parts
    this.pid = jail.pid!
    this.sandbox = level
    this.stdin = started.stdin
    this.stdout = started.stdout
    this.stderr = started.stderr
    // What breaks them is the end of the program, which is heard of by itself; the hub must not end with it.
    for (const stream of [this.stdin, this.stdout, this.stderr]) stream.on('error', () => {})
    this.ended = this.#end()
  }

  async stop({ graceMs = GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    const waitMs = Math.round(Math.min(Math.max(0, graceMs) || 0, LONGEST_GRACE_MS))
    this.stdin.end()
    if (!(await this.#endsWithin(waitMs))) await this.#parts.jail.stop(waitMs)
    await this.ended
    // Nobody has ever read them, so nobody waits for the rest.
    for (const stream of [this.stdout, this.stderr]) if (stream.readableFlowing === null) stream.destroy()
  }

  async #end(): Promise<ProgramEnd> {
    const end = await this.#parts.started.exited.then(
      ({ exitCode = null, signal = null }) => ({ code: exitCode, signal }),
      () => this.#lost(),
    )
    // What stays open after that is litter, and the program has ended nevertheless.
    await this.#parts.leave().catch(() => {})
    return end
  }

  /** The process that watched it has died. One in a jail dies with that by itself. */
  #lost(): ProgramEnd {
    if (this.sandbox === 'none') signalProcess(-this.pid, 'SIGKILL')
    return { code: null, signal: 'SIGKILL' }
  }

  #endsWithin(waitMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const cancel = this.#parts.clock.after(waitMs, () => resolve(false))
      void this.ended.then(() => {
        cancel()
        resolve(true)
      })
    })
  }
}
