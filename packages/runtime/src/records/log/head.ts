import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf, shortPath } from '@tool-hub/core/lib'
import { openOurs, readRegular } from '@tool-hub/sandbox/system'
import type { RunHead } from './run-events.ts'

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
  /** What has tainted the run; an earlier version has written none. */
  readonly taint?: RecordedTaint
  /** Where its last line begins; absent if that names no files that run later. */
  readonly lastLineAt?: number
}

/** What has tainted a run, by its record. */
export interface RecordedTaint {
  /** Empty if the run is not tainted. */
  readonly sources: readonly string[]
  /** Whether a taint was cleared: what the run kept before may be from outside. */
  readonly wasCleared: boolean
}

const MAX_BYTES = 4_096
/** Twenty sources of 200 characters fit in. */
const MAX_HEAD_BYTES = 20_480
const SCRATCH = Buffer.alloc(MAX_HEAD_BYTES)

/** Reads the head of a run. Returns `undefined` if it has none, `broken` if it is invalid. */
export async function readHead(folder: string): Promise<Head | 'broken' | undefined> {
  return peekHead(folder)
}

/** The same without waiting, for lists of many runs: 10 us instead of 250 us (measured). */
export function peekHead(folder: string): Head | 'broken' | undefined {
  let descriptor: number
  try {
    descriptor = fs.openSync(
      headPath(folder),
      fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK,
    )
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    // A symbolic link.
    if (errnoOf(error) === 'ELOOP') return 'broken'
    throw error
  }
  try {
    if (!fs.fstatSync(descriptor).isFile()) return 'broken'
    return parseHead(SCRATCH.toString('utf8', 0, fs.readSync(descriptor, SCRATCH, 0, MAX_HEAD_BYTES, 0)))
  } finally {
    fs.closeSync(descriptor)
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
    const { taint, lastLineAt } = head
    return isWhole && (taint === undefined || isTaint(taint)) && isPlace(lastLineAt) ? head : 'broken'
  } catch {
    return 'broken'
  }
}

function isPlace(value: unknown): boolean {
  return value === undefined || Number.isSafeInteger(value)
}

function isTaint(value: unknown): boolean {
  const taint = value as Partial<RecordedTaint> | null
  if (!Array.isArray(taint?.sources) || typeof taint.wasCleared !== 'boolean') return false
  return taint.sources.every((source: unknown) => typeof source === 'string')
}
