import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readOurs } from '../../disk/owned-by-us.ts'
import { shortPath } from '../../disk/short-path.ts'
import { ToolError } from '../../errors.ts'
import type { Connection } from './connection.ts'

/** Beside the store: the newest generation that the store is known to have had. */
const MARK = 'store.generation'
const MAX_BYTES = 100

/**
 * Finds a store that is older than it was: an older copy that was put in its place, or a log that was removed or
 * damaged. A number in the store grows after durable writes, and once that is synced it is written to a file beside
 * the store. So the store is never behind that file, whenever a process is killed or the power is lost.
 */
export class Generation {
  readonly #connection: Connection
  readonly #path: string
  readonly #read
  readonly #write
  #timer: NodeJS.Timeout | undefined
  #advancing: Promise<void> | undefined

  constructor(connection: Connection) {
    this.#connection = connection
    this.#path = join(dirname(connection.path), MARK)
    this.#read = connection.statement<{ value: number }>(`SELECT value FROM counters WHERE name = 'generation'`)
    this.#write = connection.statement(
      `INSERT INTO counters (name, value) VALUES ('generation', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
    )
  }

  /** Something durable was written. This is in the way of every call: it sets a timer or does nothing. */
  request(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#advancing = this.#advance()
    }, this.#connection.options.markMs).unref()
  }

  /** Throws if the store is older than the file beside it says. */
  assertCurrent(): void {
    // The file first: others write to the store before they write to it.
    const marked = this.#marked()
    const own = this.#own()
    if (marked > own) throw olderStore(this.#connection.path, own, marked)
  }

  /** Marks what was not marked yet. What it writes to the store is there when this returns. */
  close(): Promise<void> | undefined {
    if (!this.#timer) return this.#advancing
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#advance()
  }

  async #advance(): Promise<void> {
    try {
      const next = this.#connection.transaction(() => {
        const own = this.#own()
        // Until the owner accepts it, an older store must stay recognizable.
        if (this.#marked() > own) return undefined
        // A time, so that it never grows into the generations of a newer store that was given up.
        const value = Math.max(own + 1, Date.now())
        this.#write.run(value)
        return value
      })
      if (next === undefined) return
      await this.#connection.synced()
      await this.#mark(next)
    } catch {
      // The file stays as it is, and the store is ahead of it. Whoever writes or checks is told why the disk refuses.
    }
  }

  async #mark(value: number): Promise<void> {
    const draft = `${this.#path}.${randomBytes(4).toString('hex')}`
    try {
      await writeFile(draft, `${value}\n`, { flag: 'wx', mode: 0o600, flush: true })
      await rename(draft, this.#path)
    } catch (error) {
      await rm(draft, { force: true })
      throw error
    }
  }

  #own(): number {
    return this.#read.get()?.value ?? 0
  }

  #marked(): number {
    const text = readOurs(this.#path, MAX_BYTES)
    if (text === undefined) return 0
    // One that is damaged proves nothing, so the owner has to look.
    return /^\d{1,15}\n$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
  }
}

/** Accepts the store of a data folder as it is, also if it is older than it was: by the word of the owner. */
export async function acceptStore(folder: string): Promise<void> {
  await rm(join(folder, MARK), { force: true })
}

/** Whether a check of the store has failed because the store is older than it was. */
export function isOlderStore(error: unknown): error is ToolError {
  return ToolError.is(error) && error.details?.store === 'older'
}

function olderStore(path: string, own: number, marked: number): ToolError {
  const end = own === 0 ? 'nothing of what was written' : `nothing written after ${timeOf(own)}`
  const until = Number.isFinite(marked) ? `it was last used at ${timeOf(marked)}` : `${MARK} beside it is damaged`
  return new ToolError(
    'CONFIG_INVALID',
    `The store ${shortPath(path)} is older than it was: it has ${end}, but ${until}. An older copy was put in its place, or its -wal file was ` +
      'removed or damaged. Tokens revoked since then are valid again; approvals, answers, grants and schedules since then are undone.',
    {
      hint:
        'Stop the service and put the newest copy of the store in its place. If this is the newest one: revoke tokens ' +
        'again where needed, then accept it with tool-hub store adopt.',
      details: { path, store: 'older' },
    },
  )
}

function timeOf(generation: number): string {
  return new Date(generation).toISOString()
}
