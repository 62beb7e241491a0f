import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { z } from 'zod'

/** Tells one process from every other, also from a later one with the same number. */
export const processIdentitySchema = z.strictObject({
  pid: z.int().positive(),
  /** When it started, in the kernel's ticks; absent where the system does not say. */
  started: z.string().max(32).optional(),
  /** Where the number means something: host and PID namespace. */
  space: z.string().max(300),
})

/** One process, as it can be written into a file. */
export type ProcessIdentity = z.infer<typeof processIdentitySchema>

/** The process that runs this code. */
export async function processIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, started: await startOf(process.pid), space: await pidSpace() }
}

/** True when the process is surely gone; one of another host or container cannot be seen and counts as there. */
export async function isGone(identity: ProcessIdentity): Promise<boolean> {
  if (identity.space !== (await pidSpace())) return false
  if (!isAlive(identity.pid)) return true
  if (identity.started === undefined) return false
  const started = await startOf(identity.pid)
  return started !== undefined && started !== identity.started
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Field 22 of /proc/<pid>/stat; the name in field 2 may hold anything, so the count begins after its bracket. */
async function startOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

async function pidSpace(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${hostname()} ${namespace}`
}
