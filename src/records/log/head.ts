import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type HeadStore, messageOf, ToolError } from '../../core/index.ts'
import { errnoOf, shortPath } from '../../lib/index.ts'
import { openOurs, readRegular } from '../../system/index.ts'
import type { ChainLink } from './event-line.ts'
import type { RunHead } from './events.ts'

/** Written when a run is closed in good order: where it ended, so that the next open need not read all of it. */
export interface Head {
  readonly run: string
  readonly seq: number
  readonly hash: string
  /** Sizes of events.jsonl, logs/tools.jsonl and logs/errors.jsonl. */
  readonly bytes: number
  readonly toolsBytes: number
  readonly errorsBytes: number
  readonly calls: number
  readonly failures: number
  readonly started: string
  readonly ended: string
}

const MAX_BYTES = 4_096

/** Reads the head of a run. Returns `undefined` if it has none, `broken` if it is invalid. */
export async function readHead(folder: string): Promise<Head | 'broken' | undefined> {
  try {
    return parseHead(await readRegular(headPath(folder), MAX_BYTES))
  } catch (error) {
    if (ToolError.is(error)) return 'broken'
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Like `readHead`, for opening a run: a broken head counts as none. Throws for one that another user could have
 * written.
 */
export function readHeadSync(folder: string): Head | undefined {
  const text = readOursSync(headPath(folder))
  const head = text === undefined ? undefined : parseHead(text)
  return head === 'broken' ? undefined : head
}

/** Writes the head of a run; a crash leaves the old or the new one. */
export function writeHead(folder: string, head: Head): Promise<void> {
  return replaceFile(headPath(folder), `${JSON.stringify(head)}\n`)
}

/**
 * Reads the head of the run below `root` that was closed last. Returns `undefined` if there is none or it is invalid.
 */
export function readLastHeadSync(root: string): RunHead | undefined {
  return parseRunHead(readOursSync(lastHeadPath(root)) ?? '')
}

/** Like `readLastHeadSync`, for verification: returns `broken` if it is invalid. */
export async function readLastHead(root: string): Promise<RunHead | 'broken' | undefined> {
  try {
    return parseRunHead(await readRegular(lastHeadPath(root), MAX_BYTES)) ?? 'broken'
  } catch (error) {
    if (ToolError.is(error)) return 'broken'
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Writes which run below `root` was closed last, for the first line of the next one. */
export function writeLastHead(root: string, { run, seq, hash }: RunHead): Promise<void> {
  return replaceFile(lastHeadPath(root), `${JSON.stringify({ run, seq, hash })}\n`)
}

/** Returns the head that a JSON value is, or `undefined`. */
export function asRunHead(value: unknown): RunHead | undefined {
  const head = value as Partial<RunHead> | null | undefined
  const isHead =
    typeof head?.run === 'string' && Number.isSafeInteger(head.seq) && /^[0-9a-f]{64}$/.test(String(head.hash))
  return isHead ? { run: head.run!, seq: head.seq!, hash: head.hash! } : undefined
}

function readOursSync(path: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(path, fs.constants.O_RDONLY, { name: shortPath(path) })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    return fs.readFileSync(descriptor, 'utf8')
  } finally {
    fs.closeSync(descriptor)
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  // An unpredictable name, and `x`: never through a link.
  const draft = `${path}.${randomBytes(6).toString('hex')}.draft`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

function headPath(folder: string): string {
  return join(folder, 'head.json')
}

function lastHeadPath(root: string): string {
  return join(root, 'last-head.json')
}

function parseRunHead(text: string): RunHead | undefined {
  try {
    return asRunHead(JSON.parse(text))
  } catch {
    return undefined
  }
}

const NUMBERS = ['seq', 'bytes', 'toolsBytes', 'errorsBytes', 'calls', 'failures'] as const
const TEXTS = ['run', 'hash', 'started', 'ended'] as const

function parseHead(text: string): Head | 'broken' {
  try {
    const head = JSON.parse(text) as Head
    const isWhole =
      NUMBERS.every((key) => Number.isSafeInteger(head[key])) && TEXTS.every((key) => typeof head[key] === 'string')
    return isWhole ? head : 'broken'
  } catch {
    return 'broken'
  }
}

/** The head of a growing run is in the store after this time at the latest. */
const KEEP_MS = 2_000

/** The run whose heads are kept. */
interface KeptRun {
  readonly run: string
  /** Hash of the line that opened it. */
  readonly opening: string
  /** The last line before that one. */
  readonly continues: ChainLink
  readonly clock: Clock
  /** Makes everything appended so far durable: the store must never know more than the record. */
  readonly synced: () => Promise<void>
  readonly last: () => ChainLink
  readonly onProblem?: (error: ToolError) => void
}

/** Writes the head of an open run to the store: two seconds after a line at the latest, and when the run is closed. */
export class HeadKeeper {
  readonly #heads: Pick<HeadStore, 'put'>
  readonly #run: KeptRun
  #cancel: (() => void) | undefined
  #keeping: Promise<void> | undefined
  #isClosed = false
  #keptSeq = 0
  #isProblemTold = false

  constructor(heads: Pick<HeadStore, 'put'>, run: KeptRun) {
    this.#heads = heads
    this.#run = run
  }

  /** Call this when the run has grown. It runs in every call, so it only sets a timer or does nothing. */
  request(): void {
    if (this.#cancel || this.#isClosed) return
    this.#cancel = this.#run.clock.after(KEEP_MS, this.#timer, { background: true })
  }

  /** Writes the head of a run that is closed. Never rejects: the record itself is complete. */
  async close(): Promise<void> {
    this.stop()
    await this.#keeping
    await this.#keep()
  }

  /** Cancels the timer. */
  stop(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  readonly #timer = (): void => {
    this.#keeping = this.#keep().finally(() => {
      this.#keeping = undefined
      this.#cancel = undefined
      if (this.#run.last().seq > this.#keptSeq) this.request()
    })
  }

  async #keep(): Promise<void> {
    const { run, opening, continues, clock, synced, last } = this.#run
    const { seq, hash } = last()
    try {
      await synced()
      await this.#heads.put({ run, opening, seq, hash, at: clock.now() }, continues)
      this.#keptSeq = seq
      this.#isProblemTold = false
    } catch (error) {
      if (!this.#isProblemTold) this.#run.onProblem?.(problem(run, error))
      this.#isProblemTold = true
    }
  }
}

function problem(run: string, cause: unknown): ToolError {
  return new ToolError(
    'RECORDS_UNAVAILABLE',
    `The store does not take the head of run ${run}, so that its end cannot be proven: ${messageOf(cause)}`,
    { hint: 'See tool-hub doctor for the state of the store.', cause },
  )
}
