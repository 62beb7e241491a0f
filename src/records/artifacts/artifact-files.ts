import { randomBytes } from 'node:crypto'
import { readdirSync, rmSync } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../../lib/index.ts'

/** No reference leads to such a name, so nobody takes a draft for an artifact. */
const DRAFT = /^(?:[0-9a-f]{64}|stream)\.[0-9a-f]{12}$/

/** Where an artifact is written until it is whole; `name` is its hash, or `stream` as long as that is not known. */
export function artifactDraft(folder: string, name: string): string {
  return join(folder, `${name}.${randomBytes(6).toString('hex')}`)
}

/** Removes the drafts that a crash left behind; only for who holds the run. */
export function sweepArtifactDrafts(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (DRAFT.test(name)) rmSync(join(folder, name), { force: true })
  }
}

/** Whether the content that has this name is there already. */
export async function isStored(path: string, bytes: number): Promise<boolean> {
  try {
    const stats = await lstat(path)
    return stats.isFile() && stats.size === bytes
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false
    throw error
  }
}
