import { randomBytes } from 'node:crypto'
import { z } from 'zod'
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

/** Whether the process of an owner lives; what names none is not. */
export function isOwnerAlive(owner: string): boolean {
  const parsed = ownerSchema.safeParse(parseJson(owner))
  return parsed.success && isAlive(parsed.data)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
