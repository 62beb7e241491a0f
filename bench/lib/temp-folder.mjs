import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Lends a folder that is gone afterwards. */
export async function withTempFolder(use) {
  const folder = await mkdtemp(join(tmpdir(), 'tool-hub-bench-'))
  try {
    return await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
