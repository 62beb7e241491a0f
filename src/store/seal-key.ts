import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { errnoOf } from '../disk/errno.ts'
import { readOurs } from '../disk/owned-by-us.ts'
import { ToolError } from '../errors.ts'

const KEY_BYTES = 32
const MOST_BYTES = 200
const READABLE_BY_OTHERS = 0o077

/** The key that files are sealed with: TOOL_HUB_KEY, else what is in the file; undefined when there is neither. */
export function readSealKey(path: string): Buffer | undefined {
  const given = process.env.TOOL_HUB_KEY
  if (given !== undefined && given !== '') return parseKey(given, 'TOOL_HUB_KEY')
  const text = readOurs(path, MOST_BYTES)
  if (text === undefined) return undefined
  refuseReadable(path)
  return parseKey(text, path)
}

/** The same, and makes the file when there is neither; of several who make it at once, all get the first one's key. */
export function makeSealKey(path: string): Buffer {
  const known = readSealKey(path)
  if (known) return known
  const draft = `${path}.${randomBytes(8).toString('hex')}`
  fs.writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { flag: 'wx', mode: 0o600, flush: true })
  try {
    // Linked, so that it appears with its content and never replaces another.
    fs.linkSync(draft, path)
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error
  } finally {
    fs.rmSync(draft, { force: true })
  }
  return readSealKey(path)!
}

function refuseReadable(path: string): void {
  const { mode } = fs.lstatSync(path)
  // Windows keeps files by access lists, and has no such modes.
  if (process.geteuid === undefined || (mode & READABLE_BY_OTHERS) === 0) return
  throw new ToolError('CONFIG_INVALID', `${path} can be read by other users (mode ${(mode & 0o777).toString(8)}).`, {
    hint: `Look who could have read it; then chmod 600 ${path}.`,
  })
}

function parseKey(text: string, name: string): Buffer {
  const trimmed = text.trim()
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  // 32 bytes are 43 characters, of either alphabet.
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)) return Buffer.from(trimmed, 'base64')
  throw new ToolError('CONFIG_INVALID', `${name} does not hold a key of ${KEY_BYTES} bytes in base64 or hex.`, {
    hint: `Make one: openssl rand -base64 ${KEY_BYTES}.`,
  })
}
