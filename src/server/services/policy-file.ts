import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { ToolError } from '../../core/index.ts'
import { errnoOf, sha256 } from '../../lib/index.ts'

/** A config file as it is now. */
export interface PolicyFile {
  readonly file: string
  readonly text: string
  /** Changes with the text. */
  readonly version: string
}

const MAX_BYTES = 1_000_000

/** Reads a config to be edited. */
export async function readPolicyFile(file: string): Promise<PolicyFile> {
  try {
    const stats = await stat(file)
    if (!stats.isFile() || stats.size > MAX_BYTES)
      throw new ToolError('CONFIG_INVALID', `${file} is no file of at most ${MAX_BYTES} bytes.`)
    const text = await readFile(file, 'utf8')
    return { file, text, version: sha256(text) }
  } catch (error) {
    if (ToolError.is(error)) throw error
    throw new ToolError('CONFIG_INVALID', `${file} cannot be read (${errnoOf(error)}).`, { cause: error })
  }
}

/** Replaces a config at once, with its permissions, through a link to where it leads: a crash leaves the old or the new one. */
export async function writePolicyFile(file: string, text: string): Promise<void> {
  const place = await realpath(file)
  const { mode } = await stat(place)
  const draft = path.join(path.dirname(place), `.${path.basename(place)}.${randomBytes(6).toString('hex')}`)
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  try {
    const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    try {
      await handle.writeFile(text)
      await handle.chmod(mode & 0o777)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(draft, place)
  } catch (error) {
    await rm(draft, { force: true })
    throw new ToolError('CONFIG_INVALID', `${file} cannot be written (${errnoOf(error)}).`, {
      hint: 'Look whether the service may write the file and its folder, and whether the disk is full.',
      cause: error,
    })
  }
}
