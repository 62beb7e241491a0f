import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { SandboxLevel } from '../../../../contracts/commands.ts'
import { chainOf, isLiving, type KnownProcess, killMarked, killTree, signalProcess } from './process-tree.ts'

/** Found in the environment of what a command without a PID namespace left behind. */
const MARKER = 'TOOL_HUB_MARKER'

/** The processes of one jail, and how they are ended. */
export class CellProcesses {
  readonly #marker: string | undefined
  #outermost: number | undefined
  #hasEnded = false
  /** The shell, which becomes the command. */
  #command: KnownProcess | undefined
  /** What must be gone before the jail is: the first process of its PID namespace, with which all others go. */
  #doomed: KnownProcess[] = []
  #wasAsked = false
  #wasKilled = false

  constructor(level: SandboxLevel) {
    if (level === 'none') this.#marker = randomBytes(16).toString('hex')
  }

  /** To be added to the jail's environment. */
  get environment(): Readonly<Record<string, string>> {
    return this.#marker === undefined ? {} : { [MARKER]: this.#marker }
  }

  /** The process that was started. */
  outermost(pid: number): void {
    this.#outermost = pid
  }

  outermostEnded(): void {
    this.#hasEnded = true
  }

  /** Looks at the processes of a jail whose shell waits. */
  stand(): void {
    const chain = this.#outermost === undefined ? [] : chainOf(this.#outermost)
    this.#command = chain.at(-1)
    this.#doomed = chain.slice(1, 2)
  }

  /** The process that the command is, outside of its jail. */
  get command(): number | undefined {
    return this.#command?.pid
  }

  /** The mounts as the shell sees them. */
  mounts(): string {
    return readFileSync(`/proc/${this.#command?.pid}/mountinfo`, 'utf8')
  }

  /** Asks the command to end: itself where its namespace ends with it, else its process group. */
  ask(): void {
    if (this.#command === undefined || !isLiving(this.#command)) return
    this.#wasAsked = true
    const target = this.#marker === undefined ? this.#command.pid : -this.#command.pid
    signalProcess(target, 'SIGTERM')
    // One that was stopped hears it only when it goes on.
    signalProcess(target, 'SIGCONT')
  }

  /** Ends everything, without asking. */
  kill(): void {
    if (this.#outermost === undefined) return
    for (const process of this.#doomed) if (isLiving(process)) signalProcess(process.pid, 'SIGKILL')
    if (!this.#hasEnded) {
      this.#wasKilled = true
      this.#doomed.push(...killTree({ pid: this.#outermost }))
    }
    if (this.#marker !== undefined) signalProcess(-this.#outermost, 'SIGKILL')
  }

  /** Whether anything lives; what is found by its marker alone is killed on the way. */
  areLiving(): boolean {
    if (this.#outermost === undefined) return false
    if (!this.#hasEnded || this.#doomed.some(isLiving)) return true
    return this.#marker !== undefined && killMarked(`${MARKER}=${this.#marker}`) > 0
  }

  /** A jail ends with 128 and more where a signal ended its command; one of ours is named. */
  nameSignal(exit: { exitCode?: number; signal?: string }): { exitCode?: number; signal?: string } {
    if (this.#wasAsked && (exit.exitCode === 143 || exit.signal === 'SIGTERM')) return { signal: 'SIGTERM' }
    if (this.#wasKilled && (exit.exitCode === 137 || exit.signal !== undefined)) return { signal: 'SIGKILL' }
    return exit
  }
}
