import { randomBytes } from 'node:crypto'
import * as fs from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoOf } from '../disk/errno.ts'
import { readRegular } from '../disk/open-regular.ts'
import { openOurs } from '../disk/owned-by-us.ts'
import { shortPath } from '../disk/short-path.ts'
import { ToolError } from '../errors.ts'

/** What a run leaves when it is closed in good order: where it ended, so that the next open need not read it all. */
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

const MOST_BYTES = 4_096

/** The head of a run; undefined when it has none, `broken` when it cannot be understood. */
export async function readHead(folder: string): Promise<Head | 'broken' | undefined> {
  try {
    return parseHead(await readRegular(headPath(folder), MOST_BYTES))
  } catch (error) {
    if (ToolError.is(error)) return 'broken'
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The same for opening a run; a broken head is as good as none there, one that others could write is refused. */
export function readHeadSync(folder: string): Head | undefined {
  let descriptor: number
  try {
    const path = headPath(folder)
    descriptor = openOurs(path, fs.constants.O_RDONLY, { name: shortPath(path) })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const head = parseHead(fs.readFileSync(descriptor, 'utf8'))
    return head === 'broken' ? undefined : head
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Replaces the head at once: a crash leaves the old or the new one. */
export async function writeHead(folder: string, head: Head): Promise<void> {
  // A name that nobody can have prepared, and `x`: never through a link.
  const draft = `${headPath(folder)}.${randomBytes(6).toString('hex')}.draft`
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(`${JSON.stringify(head)}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, headPath(folder))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

function headPath(folder: string): string {
  return join(folder, 'head.json')
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
