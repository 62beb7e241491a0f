import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errnoOf } from '../lib/index.ts'

/** Names one process for good: a process id alone is used again after a while. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the start of the process; absent where the system has no /proc. */
  readonly started?: string
  /** Where the number means something: host and PID namespace. */
  readonly space: string
}

/** The process that runs this. */
export function currentProcess(): ProcessIdentity {
  const started = procStat(process.pid)?.started
  return { pid: process.pid, ...(started !== undefined && { started }), space: pidSpace() }
}

/** Whether that very process lives. When it cannot be told, as on another machine or in a container, it does. */
export function isAlive({ pid, started, space }: ProcessIdentity): boolean {
  if (space !== pidSpace()) return true
  if (!answers(pid)) return false
  const stat = procStat(pid)
  if (stat === undefined || started === undefined) return true
  return stat.started === started && stat.state !== 'Z'
}

/** Whether that very process lives for certain: false for one on another machine or in another container. */
export function isRunningHere(identity: ProcessIdentity): boolean {
  return identity.space === pidSpace() && isAlive(identity)
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) !== 'ESRCH'
  }
}

function procStat(pid: number): { state: string; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may hold blanks and parentheses; what follows the last one are fields 3 and on.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, started: fields[19]! }
  } catch {
    // No /proc, or the process has gone.
    return undefined
  }
}

function pidSpace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    // No /proc: the host alone has to do.
    return hostname()
  }
}
