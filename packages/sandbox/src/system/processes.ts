import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { errnoOf, parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'

/** Identifies one process: a process id alone is reused after a while. */
export interface ProcessIdentity {
  readonly pid: number
  /** Clock ticks from boot to the start of the process; absent where the system has no /proc. */
  readonly started?: string
  /** Where the process id is valid: host and PID namespace. */
  readonly space: string
}

/** The process that runs this. */
export function currentProcess(): ProcessIdentity {
  const started = procStat(process.pid)?.started
  return { pid: process.pid, ...(started !== undefined && { started }), space: pidSpace() }
}

/** Whether that very process is alive. One on another machine or in another container counts as alive. */
export function isAlive({ pid, started, space }: ProcessIdentity): boolean {
  if (space !== pidSpace()) return true
  if (!answers(pid)) return false
  const stat = procStat(pid)
  if (stat === undefined || started === undefined) return true
  return stat.started === started && stat.state !== 'Z'
}

/** Whether that very process is certainly alive: false for one on another machine or in another container. */
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
    // The name in parentheses may contain blanks and parentheses; fields 3 and later follow the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0]!, started: fields[19]! }
  } catch {
    // No /proc, or the process has ended.
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

const ownerSchema = z.object({
  pid: z.int().positive(),
  started: z.string().max(32).optional(),
  space: z.string().max(300),
  process: z.string().max(200).optional(),
})

/**
 * Creates the name of an owner of something in a store. Each call creates another owner, also within one process. If
 * processes on other machines share the store, `process` is the id by which they know this one.
 */
export function newOwner(process?: string): string {
  return JSON.stringify({ ...currentProcess(), process, part: randomBytes(8).toString('hex') })
}

/** Knows by their heartbeats which processes are alive, on all machines that share a store. */
export interface ProcessDirectory {
  /** Whether the process is alive; also true if that is not certain. */
  isProcessAlive(process: string): boolean
}

const directories = new Set<ProcessDirectory>()

/** Answers for owners that name their process, until the returned function is called. */
export function addProcessDirectory(directory: ProcessDirectory): () => void {
  directories.add(directory)
  return () => directories.delete(directory)
}

/** Owners of this process that ended before it. */
const retired = new Set<string>()

/** Declares that an owner of this process has ended: what it owned is free, as if its process had ended. */
export function retireOwner(owner: string): void {
  retired.add(owner)
}

/** Whether the process of an owner is alive; false for a name that is not an owner's. */
export function isOwnerAlive(owner: string | null): boolean {
  if (owner === null || retired.has(owner)) return false
  const parsed = ownerSchema.safeParse(parseJson(owner))
  if (!parsed.success) return false
  const { process: named } = parsed.data
  // A process id says nothing about another machine, and there it may be that of another container.
  if (named !== undefined && directories.size > 0) return [...directories].some((each) => each.isProcessAlive(named))
  return isAlive(parsed.data)
}

/**
 * How many files and connections this process may have open. Returns Infinity if the system does not tell; throws if no
 * descriptor is free to look.
 */
export function descriptorLimit(): number {
  try {
    const limit = /^Max open files +(\d+|unlimited)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]
    return limit === undefined || limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit)
  } catch (error) {
    if (errnoOf(error) === 'EMFILE' || errnoOf(error) === 'ENFILE') throw error
    // Not Linux, or no /proc here.
    return Number.POSITIVE_INFINITY
  }
}

/** How many files and connections this process has open. Throws if no descriptor is free to look. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}
