import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { parseJson } from '../lib/index.ts'
import { currentProcess, isAlive } from './process-identity.ts'

const ownerSchema = z.object({
  pid: z.int().positive(),
  started: z.string().max(32).optional(),
  space: z.string().max(300),
})

/** Names one part of this process as the owner of something in a store: two of one process are not the same. */
export function newOwner(): string {
  return JSON.stringify({ ...currentProcess(), part: randomBytes(8).toString('hex') })
}

/** Parts of this process that have ended before it. */
const retired = new Set<string>()

/** The part of this process with this name has ended: what it owned is free, as if its process were gone. */
export function retireOwner(owner: string): void {
  retired.add(owner)
}

/** Whether an owner lives; what names none does not. */
export function isOwnerAlive(owner: string | null): boolean {
  if (owner === null || retired.has(owner)) return false
  const parsed = ownerSchema.safeParse(parseJson(owner))
  return parsed.success && isAlive(parsed.data)
}
