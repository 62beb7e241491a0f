import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { prepareDataFolder, readOurs } from '@tool-hub/sandbox/system'

const KEY_BYTES = 32
const MAX_KEY_FILE_BYTES = 200
const READABLE_BY_OTHERS = 0o077
const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^tool-hub sealed 1\n([A-Za-z0-9+/]+={0,2})\n$/

/** How a document of a store is encrypted. */
export interface SealOptions {
  /** What the document holds, for messages: `The sign-ins`. */
  readonly what: string
  /** Name of the document. It is authenticated: a document put in place of another cannot be opened. */
  readonly name: string
  /** What to do about a document of another key. */
  readonly hint: string
  /** Folder of the file `key`, which is created once and used unless TOOL_HUB_KEY is set. Default: only TOOL_HUB_KEY. */
  readonly keyFolder: string | undefined
}

/** Encrypts a document of a store at rest (AES-256-GCM). */
export function sealDocument({ what, name, hint, keyFolder }: SealOptions): {
  encode(text: string): string
  decode(body: string): string
} {
  const context = Buffer.from(`tool-hub document ${name} 1`)
  if (keyFolder !== undefined) {
    const path = join(keyFolder, 'key')
    return {
      encode(text) {
        prepareDataFolder(keyFolder)
        return seal(text, makeSealKey(path), context)
      },
      decode: (body) => unseal(body, () => knownKey(path, hint), { context, hint }),
    }
  }
  const key = () => {
    const given = givenKey()
    if (given) return given
    throw closed(
      `TOOL_HUB_KEY is not set. ${what} are encrypted with it in a store that several machines share.`,
      `Set TOOL_HUB_KEY to the same key on all machines; make one: openssl rand -base64 ${KEY_BYTES}.`,
    )
  }
  return {
    encode: (text) => seal(text, key(), context),
    decode: (body) => unseal(body, key, { context, hint }),
  }
}

/** Decrypts the content of a file that tool-hub 0.1.0 has encrypted, with the key in TOOL_HUB_KEY or beside the file. */
export function unsealFile(content: string, path: string, hint: string): string {
  const context = Buffer.from(`tool-hub ${basename(path)} 1`)
  return unseal(content, () => knownKey(join(dirname(path), 'key'), hint), { context, hint })
}

function knownKey(path: string, hint: string): Buffer {
  const known = readSealKey(path)
  if (known) return known
  throw closed(`its key ${path} is gone, and TOOL_HUB_KEY is not set`, hint)
}

function seal(text: string, key: Buffer, context: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(context)
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return `tool-hub sealed 1\n${sealed.toString('base64')}\n`
}

function unseal(
  content: string,
  keyOf: () => Buffer,
  { context, hint }: { readonly context: Buffer; readonly hint: string },
): string {
  const sealed = Buffer.from(SEALED.exec(content)?.[1] ?? '', 'base64')
  if (sealed.length < NONCE_BYTES + TAG_BYTES) throw closed('it is not what was written here', hint)
  const decipher = createDecipheriv('aes-256-gcm', keyOf(), sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(context).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch (cause) {
    throw closed('it was changed, or written with another key', hint, cause)
  }
}

function closed(why: string, hint: string, cause?: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', why, { hint, cause })
}

/** The key in TOOL_HUB_KEY; `undefined` if it is not set. */
function givenKey(): Buffer | undefined {
  const given = process.env.TOOL_HUB_KEY
  return given === undefined || given === '' ? undefined : parseKey(given, 'TOOL_HUB_KEY')
}

/** The encryption key: TOOL_HUB_KEY, or else the content of the file; `undefined` if there is neither. */
function readSealKey(path: string): Buffer | undefined {
  const given = givenKey()
  if (given) return given
  const text = readOurs(path, MAX_KEY_FILE_BYTES)
  if (text === undefined) return undefined
  refuseReadable(path)
  return parseKey(text, path)
}

/** The same, but creates the file if there is neither; of several processes that create it concurrently, all get the first key. */
function makeSealKey(path: string): Buffer {
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
