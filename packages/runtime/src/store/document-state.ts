import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Awaitable, type DocumentStore, messageOf, resourceError, ToolError } from '@tool-hub/core'
import { assertOurs, readOurs, statsIfThere } from '@tool-hub/sandbox/system'
import { z } from 'zod'

/** A small state while it is looked at and changed. */
export interface State<T> {
  /** The object is shared and must not be changed. */
  read(): T
  /** Replaces the state; nothing is stored if `change` returns the same object. */
  update(change: (before: T) => T): T
}

/** Options of a small state that several processes share. */
export interface DocumentStateOptions<T> {
  readonly documents: DocumentStore
  /** Name of its document in the store. */
  readonly name: string
  readonly schema: z.ZodType<T>
  /** The state without a document. */
  readonly empty: T
  /** What is known without a document; it is stored with the first use. Default: nothing. */
  readonly first?: (() => Awaitable<T | undefined>) | undefined
  /** What the document holds, for messages: `The pinned definitions`. */
  readonly what: string
  /** What to do about a document that cannot be used. */
  readonly hint: string
  /** How its text is encrypted. Default: not at all. */
  readonly seal?: { encode(text: string): string; decode(body: string): string } | undefined
}

/** Each conflict means that another process has written; more in a row mean that something is wrong. */
const MAX_ATTEMPTS = 30
const MAX_PAUSE_MS = 100

/** A small state in a document of a store, which several processes share. */
export class DocumentState<T> {
  readonly #options: DocumentStateOptions<T>
  #known: { readonly revision: number; readonly value: T } | undefined

  constructor(options: DocumentStateOptions<T>) {
    this.#options = options
  }

  /**
   * Does the work on the current state and stores what it changed. If another process has written meanwhile, the work is
   * done again on the new state, so it must have no other effect. CONFIG_INVALID if the document cannot be used.
   */
  async use<R>(work: (state: State<T>) => R): Promise<R> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { revision, stored, value } = await this.#read()
      let after = value
      const result = work({
        read: () => after,
        update: (change) => {
          after = change(after)
          return after
        },
      })
      if (after === stored || (await this.#write(after, revision))) return result
      await setTimeout(Math.random() * MAX_PAUSE_MS)
    }
    const { what } = this.#options
    throw new ToolError('CONFLICT', `${what} were changed by other processes ${MAX_ATTEMPTS} times in a row.`, {
      hint: 'Try again in a few seconds.',
      retryable: true,
    })
  }

  /** Replaces the document by an empty state, without reading it. Returns whether there was one. */
  async discard(): Promise<boolean> {
    const { documents, name, empty } = this.#options
    for (;;) {
      const document = await documents.read(name)
      if (!document) return false
      if (await documents.write(name, this.#encode(empty), document.revision)) return true
    }
  }

  async #read(): Promise<{ readonly revision: number; readonly stored: T; readonly value: T }> {
    const { documents, name, empty, first } = this.#options
    const known = this.#known
    const document = await documents.read(name, known?.revision)
    if (!document) return { revision: 0, stored: empty, value: (await first?.()) ?? empty }
    const { revision, body } = document
    const value = body === undefined ? known!.value : this.#decode(body)
    this.#known = { revision, value }
    return { revision, stored: value, value }
  }

  async #write(value: T, revision: number): Promise<boolean> {
    const { documents, name, schema } = this.#options
    return documents.write(name, this.#encode(schema.parse(value)), revision)
  }

  #encode(value: T): string {
    const text = JSON.stringify(value)
    return this.#options.seal?.encode(text) ?? text
  }

  #decode(body: string): T {
    const { schema, seal, what, name, hint } = this.#options
    try {
      return schema.parse(JSON.parse(seal?.decode(body) ?? body))
    } catch (cause) {
      const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause)
      throw new ToolError('CONFIG_INVALID', `${what} in the store (${name}) cannot be used: ${why}`, {
        hint: ToolError.is(cause) ? cause.fix.hint : hint,
        cause,
      })
    }
  }
}

/** Options of a file of state. */
export interface OldStateOptions<T> {
  /** Absolute. */
  readonly path: string
  readonly schema: z.ZodType<T>
  /** What the file holds, for messages: `The pinned definitions`. */
  readonly what: string
  /** What to do about a file that cannot be used. */
  readonly hint: string
  readonly maxBytes: number
  /** The text of its content, if it is encrypted. */
  readonly decode?: (content: string) => string
}

/**
 * A small state that tool-hub 0.1.0 kept in a file of the data folder, to be taken over by a document of the store.
 * `undefined` if the file does not exist; CONFIG_INVALID if it cannot be used.
 */
export function readOldState<T>({ path, schema, what, hint, maxBytes, decode }: OldStateOptions<T>): T | undefined {
  try {
    const folder = dirname(path)
    const stats = statsIfThere(folder)
    const content = stats && readOurs(path, maxBytes)
    if (content === undefined) return undefined
    // A user who can write to the folder can replace the file.
    assertOurs(stats!, folder)
    return schema.parse(JSON.parse(decode?.(content) ?? content))
  } catch (cause) {
    // The file may be as it should be.
    const exhausted = resourceError(cause, `${what} in ${path} cannot be read`)
    if (exhausted) throw exhausted
    const why = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause)
    throw new ToolError('CONFIG_INVALID', `${what} in ${path} cannot be used: ${why}`, {
      hint: ToolError.is(cause) ? cause.fix.hint : hint,
      cause,
    })
  }
}

/** Removes the file of such a state, once its content is in the store. */
export function removeOldState(path: string): void {
  rmSync(path, { force: true })
}
