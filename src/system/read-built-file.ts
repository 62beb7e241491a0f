import { readFile } from 'node:fs/promises'
import { errnoOf } from '../lib/index.ts'
import { builtFile } from './own-file.ts'

/** The content of a file that only a build has, by its path below `dist`; undefined where nothing was built. */
export async function readBuiltFile(path: string): Promise<Uint8Array | undefined> {
  try {
    return await readFile(builtFile(path))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}
