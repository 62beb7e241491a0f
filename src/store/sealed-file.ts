import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { ToolError } from '../errors.ts'
import { JsonState, type JsonStateOptions } from './json-state.ts'
import { makeSealKey, readSealKey } from './seal-key.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
const SEALED = /^tool-hub sealed 1\n([A-Za-z0-9+/]+={0,2})\n$/

/**
 * A small file of state that is encrypted at rest (AES-256-GCM): with the key in TOOL_HUB_KEY, else with the one in the
 * file `key` beside it, which is made once.
 */
export class SealedFile<T> extends JsonState<T> {
  readonly #keyPath: string
  readonly #hint: string
  /** What is bound to the content: one sealed file put in place of another does not open. */
  readonly #context: Buffer

  constructor(options: JsonStateOptions<T>) {
    const { path, hint = `Set TOOL_HUB_KEY to the key it was written with, or delete ${path}.` } = options
    super({ ...options, hint })
    this.#keyPath = join(dirname(path), 'key')
    this.#hint = hint
    this.#context = Buffer.from(`tool-hub ${basename(path)} 1`)
  }

  protected override encode(text: string): string {
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv('aes-256-gcm', makeSealKey(this.#keyPath), nonce).setAAD(this.#context)
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `tool-hub sealed 1\n${sealed.toString('base64')}\n`
  }

  protected override decode(content: string): string {
    const sealed = Buffer.from(SEALED.exec(content)?.[1] ?? '', 'base64')
    if (sealed.length < NONCE_BYTES + TAG_BYTES) throw this.#closed('it is not what was written here')
    const key = readSealKey(this.#keyPath)
    if (!key) throw this.#closed(`its key ${this.#keyPath} is gone, and TOOL_HUB_KEY is not set`)
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(this.#context).setAuthTag(sealed.subarray(-TAG_BYTES))
    try {
      return decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch (cause) {
      throw this.#closed('it was changed, or written with another key', cause)
    }
  }

  #closed(why: string, cause?: unknown): ToolError {
    return new ToolError('CONFIG_INVALID', why, { hint: this.#hint, cause })
  }
}
