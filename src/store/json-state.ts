import type { BigIntStats } from 'node:fs'
import * as fs from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { messageOf, ToolError } from '../core/index.ts'
import {
  assertOurs,
  type Lock,
  prepareDataFolder,
  readOurs,
  statsIfThere,
  syncFolderSync,
  takeLock,
} from '../system/index.ts'

/** Options of a small file of state. */
export interface JsonStateOptions<T> {
  /** Absolute. Its folder is created with the first update. */
  readonly path: string
  readonly schema: z.ZodType<T>
  /** The state while there is no file. */
  readonly empty: T
  /** What the file holds, for messages: `The pinned definitions`. */
  readonly what: string
  /** What to do about a file that cannot be used. */
  readonly hint?: string
  readonly maxBytes?: number
}

/** A small state while it is looked at and changed. */
export interface State<T> {
  /** The object is shared and must not be changed. */
  read(): T
  /** Replaces the state; nothing is stored if `change` returns the same object. */
  update(change: (before: T) => T): T
}

const MAX_BYTES = 10_000_000
/** An update takes milliseconds: a longer wait means that another process hangs. */
const MAX_WAIT_MS = 1_000

/**
 * A small file of state, shared by processes: read again whenever it has changed, and replaced as a whole. Synchronous on
 * purpose: nothing may change between reading and writing, and it is used rarely.
 */
export class JsonState<T> implements State<T> {
  readonly #options: JsonStateOptions<T>
  #identity: string | undefined
  #value: T

  constructor(options: JsonStateOptions<T>) {
    this.#options = options
    this.#value = options.empty
  }

  /** The current state; CONFIG_INVALID if the file cannot be used. The object is shared and must not be changed. */
  read(): T {
    const { path } = this.#options
    try {
      const identity = identityAt(path)
      if (identity !== this.#identity) {
        if (statsIfThere(path)) prepareDataFolder(dirname(path))
        this.#value = this.#load()
        this.#identity = identity
      }
      return this.#value
    } catch (cause) {
      this.#identity = undefined
      throw this.#unusable(cause)
    }
  }

  /** Replaces the state under a lock; nothing is written if `change` returns the same object. */
  update(change: (before: T) => T): T {
    const { path, schema } = this.#options
    prepareDataFolder(dirname(path))
    const lock = lockOf(path)
    try {
      const before = this.read()
      const after = change(before)
      if (after === before) return before
      this.#replace(this.encode(`${JSON.stringify(schema.parse(after), undefined, 2)}\n`))
      this.#identity = undefined
      return after
    } finally {
      lock.release()
    }
  }

  /** The content of the file for a text. */
  protected encode(text: string): string {
    return text
  }

  /** The text of the content of a file; throws if it cannot be decoded. */
  protected decode(content: string): string {
    return content
  }

  #load(): T {
    const { path, schema, empty } = this.#options
    const folder = dirname(path)
    const stats = fs.statSync(folder, { throwIfNoEntry: false })
    // A user who can write to the folder can replace the file.
    if (stats) assertOurs(stats, folder)
    const content = readOurs(path, this.#maxBytes)
    return content === undefined ? empty : schema.parse(JSON.parse(this.decode(content)))
  }

  #replace(content: string): void {
    const { path } = this.#options
    const bytes = Buffer.byteLength(content)
    if (bytes > this.#maxBytes) {
      throw new ToolError('FILE_TOO_LARGE', `${path} would have ${bytes} bytes, the limit is ${this.#maxBytes}.`)
    }
    replaceFile(path, content)
  }

  get #maxBytes(): number {
    return this.#options.maxBytes ?? MAX_BYTES
  }

  #unusable(cause: unknown): ToolError {
    const { what, path, hint = 'Correct or delete the file.' } = this.#options
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause)
    return new ToolError('CONFIG_INVALID', `${what} in ${path} cannot be used: ${why}`, {
      hint: ToolError.is(cause) ? cause.fix.hint : hint,
      cause,
    })
  }
}

function lockOf(path: string): Lock {
  return takeLock(`${path}.lock`, {
    what: path,
    waitMs: MAX_WAIT_MS,
    fix: { hint: `Try again in a few seconds; delete ${path}.lock only when that process is gone for good.` },
  })
}

/** Whole or not at all, also after a loss of power. */
function replaceFile(path: string, content: string): void {
  // One name is enough under the lock; a file that a killed process left is overwritten.
  const temporary = `${path}.tmp`
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = fs.constants
  const descriptor = fs.openSync(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600)
  try {
    fs.writeFileSync(descriptor, content)
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
  fs.renameSync(temporary, path)
  syncFolderSync(dirname(path))
}

/** Changes with the file, and with the users who may write to its folder. */
function identityAt(path: string): string {
  const folder = fs.statSync(dirname(path), { throwIfNoEntry: false })
  const file = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return `${file && identityOf(file)} in ${folder?.uid}:${folder?.mode}`
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}
