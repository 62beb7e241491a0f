import { readdirSync, readFileSync } from 'node:fs'

/** One process for good: a process id alone is used again after a while. */
export interface KnownProcess {
  readonly pid: number
  /** Clock ticks from boot to its start; absent where there is no /proc. */
  readonly started?: string
}

/** A process and its only child, that one's only child and so on: a jail whose shell still waits. */
export function chainOf(pid: number): KnownProcess[] {
  const chain: KnownProcess[] = []
  for (let next: number | undefined = pid; next !== undefined; next = childrenOf(next)[0])
    chain.push(knownProcess(next))
  return chain
}

/** Whether that very process has not ended. */
export function isLiving({ pid, started }: KnownProcess): boolean {
  if (started === undefined) return signalProcess(pid, 0)
  const stat = statOf(pid)
  return stat?.started === started && stat.state !== 'Z' && stat.state !== 'X'
}

/** Sends a signal; false when there was nobody to get it. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has gone meanwhile, or was never ours.
    return false
  }
}

/**
 * Kills a process and its children, also while it makes them: they may not have been told yet to die with it. Gives
 * back those below it.
 */
export function killTree(root: KnownProcess): KnownProcess[] {
  if (!isLiving(root)) return []
  signalProcess(root.pid, 'SIGSTOP')
  // It takes effect when the process next leaves the kernel, some microseconds away.
  for (let tries = 0; tries < 200 && !/[TZ]/.test(statOf(root.pid)?.state ?? 'Z'); tries++);
  const children = childrenOf(root.pid).map(knownProcess)
  const below = children.flatMap((child) => [child, ...killTree(child)])
  signalProcess(root.pid, 'SIGKILL')
  return below
}

/** Kills whatever has the marker in its environment, and gives back how many that were. */
export function killMarked(marker: string): number {
  const marked = processIds().filter((pid) => environmentOf(pid)?.includes(marker))
  for (const pid of marked) signalProcess(pid, 'SIGKILL')
  return marked.length
}

function knownProcess(pid: number): KnownProcess {
  const started = statOf(pid)?.started
  return { pid, ...(started !== undefined && { started }) }
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    // Gone, or a kernel that keeps no such list.
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
    // A zombie has none, so that what was killed does not count again.
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // Gone, or another user's.
    return undefined
  }
}

function statOf(pid: number): { state: string; parent: number; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name in parentheses may hold blanks and parentheses; what follows the last one are fields 3 and on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, parent: Number(fields[1]), started: fields[19]! }
  } catch {
    // No /proc, or the process has gone.
    return undefined
  }
}
