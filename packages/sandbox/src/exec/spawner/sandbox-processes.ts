import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { SandboxLevel } from '@tool-hub/core'
import type { Exit } from '../start/protocol.ts'

/** A variable in the environment of commands without a PID namespace, by which processes they leave behind are found. */
const MARKER = 'TOOL_HUB_MARKER'
const KILL_AGAIN_MS = 1_000
const MAX_KILLS = 30

/** The processes of one sandbox, and how they are ended. */
export class SandboxProcesses {
  readonly #marker: string | undefined
  readonly #onStuck: (() => void) | undefined
  #outermost: number | undefined
  #hasEnded = false
  /** The shell, which becomes the command. */
  #command: KnownProcess | undefined
  #supervisor: KnownProcess | undefined
  /** What must be gone before the sandbox is: the first process of its PID namespace, with which all others end. */
  #doomed: KnownProcess[] = []
  #wasTerminated = false
  #wasKilled = false
  #killAgain: NodeJS.Timeout | undefined

  /**
   * `onStuck`: processes that were killed have not ended after 30 s. They run nothing of their programs any more, since
   * the signal is pending, but the kernel may keep them for ever.
   */
  constructor(level: SandboxLevel, onStuck?: () => void) {
    this.#onStuck = onStuck
    if (level === 'none') this.#marker = randomBytes(16).toString('hex')
  }

  /** To be added to the sandbox's environment. */
  get environment(): Readonly<Record<string, string>> {
    return this.#marker === undefined ? {} : { [MARKER]: this.#marker }
  }

  /** Records the process that was started. */
  outermost(pid: number): void {
    this.#outermost = pid
  }

  outermostEnded(): void {
    this.#hasEnded = true
  }

  /** Finds the processes of a sandbox whose shell waits. */
  inspect(): void {
    // Those around the next shell of a reusable sandbox are the same: reading them again takes 0.1 ms.
    if (this.#supervisor && isLiving(this.#supervisor)) {
      const [shell] = childrenOf(this.#supervisor.pid)
      this.#command = shell === undefined ? undefined : knownProcess(shell)
      return
    }
    const chain = this.#outermost === undefined ? [] : chainOf(this.#outermost)
    this.#command = chain.at(-1)
    this.#supervisor = chain.at(-2)
    this.#doomed = chain.slice(1, 2)
  }

  /** The process that started the shell; in a reusable sandbox, its supervisor. */
  get supervisor(): number | undefined {
    return this.#supervisor?.pid
  }

  /** Continues it if a command has stopped it. */
  continueSupervisor(): void {
    if (this.#supervisor && isLiving(this.#supervisor)) signalProcess(this.#supervisor.pid, 'SIGCONT')
  }

  get isCommandLiving(): boolean {
    return this.#command !== undefined && isLiving(this.#command)
  }

  /** The command's process id outside of the sandbox. */
  get command(): number | undefined {
    return this.#command?.pid
  }

  /**
   * The mount table as the shell sees it; throws if there is none any more. In a reusable sandbox that of the supervisor,
   * which lives longer than the command: processes that a command leaves run until they are killed.
   */
  mounts(isReusable: boolean): string {
    return readFileSync(`/proc/${isReusable ? this.supervisor : this.#command?.pid}/mountinfo`, 'utf8')
  }

  /** Sends SIGTERM to the command if its namespace ends with it, otherwise to its process group. */
  terminate(): void {
    if (this.#command === undefined || !isLiving(this.#command)) return
    this.#wasTerminated = true
    const target = this.#marker === undefined ? this.#command.pid : -this.#command.pid
    signalProcess(target, 'SIGTERM')
    // A stopped process receives the signal only when it continues.
    signalProcess(target, 'SIGCONT')
  }

  /** Kills everything, again and again until `endKilling`. */
  kill(): void {
    this.#kill()
    let kills = 1
    const again = () => {
      this.#kill()
      if (++kills > MAX_KILLS) this.#onStuck?.()
    }
    this.#killAgain ??= setInterval(again, KILL_AGAIN_MS).unref()
  }

  endKilling(): void {
    clearInterval(this.#killAgain)
  }

  #kill(): void {
    if (this.#outermost === undefined) return
    for (const process of this.#doomed) if (isLiving(process)) signalProcess(process.pid, 'SIGKILL')
    if (!this.#hasEnded) {
      this.#wasKilled = true
      this.#doomed.push(...killTree({ pid: this.#outermost }))
    }
    if (this.#marker !== undefined) signalProcess(-this.#outermost, 'SIGKILL')
  }

  /** Kills processes that can only be found by their marker; returns whether any process still lives. */
  killRemaining(): boolean {
    if (this.#outermost === undefined) return false
    if (!this.#hasEnded || this.#doomed.some(isLiving)) return true
    return this.#marker !== undefined && killMarked(`${MARKER}=${this.#marker}`) > 0
  }

  /** A sandbox exits with 128 and more if a signal ended its command; if the signal was ours, it is named. */
  nameSignal(exit: Exit): Exit {
    if (this.#wasTerminated && (exit.exitCode === 143 || exit.signal === 'SIGTERM')) return { signal: 'SIGTERM' }
    if (this.#wasKilled && (exit.exitCode === 137 || exit.signal !== undefined)) return { signal: 'SIGKILL' }
    return exit
  }
}

/** Identifies a process permanently: process ids are reused after a while. */
export interface KnownProcess {
  readonly pid: number
  /** Clock ticks from boot to its start; absent where there is no /proc. */
  readonly started?: string
}

/** A process, its first child, that child's first child and so on: the processes of a sandbox whose shell still waits. */
export function chainOf(pid: number): KnownProcess[] {
  const chain: KnownProcess[] = []
  for (let next: number | undefined = pid; next !== undefined; next = childrenOf(next)[0])
    chain.push(knownProcess(next))
  return chain
}

/** Whether exactly this process is still running. */
export function isLiving({ pid, started }: KnownProcess): boolean {
  if (started === undefined) return signalProcess(pid, 0)
  const stat = statOf(pid)
  return stat?.started === started && stat.state !== 'Z' && stat.state !== 'X'
}

/** Sends a signal; returns false if no process received it. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has exited, or was never ours.
    return false
  }
}

/**
 * Kills a process and its children, even while it is creating them: they may not be set up yet to die with it. Returns
 * the processes below it.
 */
export function killTree(root: KnownProcess): KnownProcess[] {
  if (!isLiving(root)) return []
  signalProcess(root.pid, 'SIGSTOP')
  // It takes effect when the process next leaves the kernel, some microseconds later.
  for (let tries = 0; tries < 200 && !/[TZ]/.test(statOf(root.pid)?.state ?? 'Z'); tries++);
  const children = childrenOf(root.pid).map(knownProcess)
  const below = children.flatMap((child) => [child, ...killTree(child)])
  signalProcess(root.pid, 'SIGKILL')
  return below
}

/** Kills every process that has the marker in its environment; returns how many there were. */
export function killMarked(marker: string): number {
  const marked = processIds().filter((pid) => environmentOf(pid)?.includes(marker))
  for (const pid of marked) signalProcess(pid, 'SIGKILL')
  return marked.length
}

function knownProcess(pid: number): KnownProcess {
  return { pid, started: statOf(pid)?.started }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    // It has exited, or the kernel keeps no such list.
    return processIds().filter((candidate) => statOf(candidate)?.parent === pid)
  }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    // No /proc: only process groups are known there.
    return []
  }
}

function environmentOf(pid: number): string | undefined {
  if (pid === process.pid) return undefined
  try {
    // A zombie has none, so a killed process does not count again.
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // It has exited, or belongs to another user.
    return undefined
  }
}

function statOf(pid: number): { state: string; parent: number; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may contain blanks and parentheses; fields 3 and on follow the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, parent: Number(fields[1]), started: fields[19]! }
  } catch {
    // No /proc, or the process has exited.
    return undefined
  }
}
