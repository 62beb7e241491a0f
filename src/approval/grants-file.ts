import type { BigIntStats } from 'node:fs'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'
import { errnoOf } from '../disk/errno.ts'
import { type Lock, takeLock } from '../disk/file-lock.ts'
import { assertOurs, openOurs } from '../disk/owned-by-us.ts'
import { syncFolderSync } from '../disk/sync-folder.ts'
import { ToolError } from '../errors.ts'
import type { Grant } from './grants.ts'

const MOST_GRANTS = 10_000
const MOST_BYTES = 10_000_000
/** An update takes milliseconds: who waits longer has met a process that hangs. */
const LONGEST_WAIT_MS = 1_000

const text = z.string().min(1).max(10_000)
const fileSchema = z.strictObject({
  version: z.literal(1),
  grants: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(64),
        effect: z.enum(['allow', 'deny']),
        tool: z.string().min(1).max(64),
        covers: z.enum(['exact', 'targets']),
        hash: z.string().min(1).max(128),
        targets: z.array(text).max(10_000),
        until: z.iso.datetime().optional(),
        by: z.string().max(200),
        reason: z.string().max(2_000).optional(),
        createdAt: z.iso.datetime(),
      }),
    )
    .max(MOST_GRANTS),
})

/**
 * The saved grants, shared by processes: read again whenever the file is another than before, replaced as a whole.
 * Sync on purpose: an answer must not be given on grants that change while they are looked at, and only calls that
 * ask a person come here.
 */
export class GrantsFile {
  readonly #path: string
  #identity: string | undefined
  #grants: readonly Grant[] = []
  #problem: ToolError | undefined

  constructor(path: string) {
    this.#path = path
  }

  /** Why the file cannot be used, as of the last read. */
  get problem(): ToolError | undefined {
    return this.#problem
  }

  /** What is saved now; nothing when the file has a problem. */
  read(): readonly Grant[] {
    try {
      if (identityAt(this.#path) !== this.#identity) this.#load()
    } catch (cause) {
      this.#identity = undefined
      this.#grants = []
      this.#problem = unusable(this.#path, cause)
    }
    return this.#grants
  }

  /** Replaces what is saved, after every other process that does the same. A file with a problem is left as it is. */
  update(change: (grants: readonly Grant[]) => readonly Grant[]): void {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    const lock = lockOf(this.#path)
    try {
      const before = this.read()
      if (this.#problem) throw this.#problem
      const after = change(before)
      if (after === before) return
      if (after.length > MOST_GRANTS) throw tooMany(this.#path)
      replaceFile(this.#path, `${JSON.stringify({ version: 1, grants: after }, undefined, 2)}\n`)
      this.#identity = undefined
    } finally {
      lock.release()
    }
  }

  #load(): void {
    const { identity, grants } = load(this.#path)
    this.#identity = identity
    this.#grants = grants
    this.#problem = undefined
  }
}

function lockOf(path: string): Lock {
  return takeLock(`${path}.lock`, {
    what: path,
    waitMs: LONGEST_WAIT_MS,
    fix: { hint: `Try again in a few seconds; delete ${path}.lock only when that process is gone for good.` },
  })
}

function load(path: string): { identity: string; grants: readonly Grant[] } {
  const identity = identityAt(path)
  const folder = dirname(path)
  const stats = statSync(folder, { throwIfNoEntry: false })
  // Whoever can write to the folder can put another file there.
  if (stats) assertOurs(stats, folder)
  const content = readOurs(path)
  return { identity, grants: content === undefined ? [] : fileSchema.parse(JSON.parse(content)).grants }
}

function readOurs(path: string): string | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(path, constants.O_RDONLY)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
  try {
    const { size } = fstatSync(descriptor)
    if (size > MOST_BYTES) throw new Error(`it has ${size} bytes, the limit is ${MOST_BYTES}`)
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/** Whole or not at all, also after a loss of power: an answer taken back stays taken back. */
function replaceFile(path: string, content: string): void {
  // One name is enough under the lock, and what a killed process left behind is overwritten.
  const temporary = `${path}.tmp`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW
  const descriptor = openSync(temporary, flags, 0o600)
  try {
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(temporary, path)
  syncFolderSync(dirname(path))
}

/** Changes with the file, and with who may write to its folder. */
function identityAt(path: string): string {
  const folder = statSync(dirname(path), { throwIfNoEntry: false })
  const file = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return `${file && identityOf(file)} in ${folder?.uid}:${folder?.mode}`
}

function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

function unusable(path: string, cause: unknown): ToolError {
  const why =
    cause instanceof z.ZodError ? z.prettifyError(cause) : cause instanceof Error ? cause.message : String(cause)
  return new ToolError('CONFIG_INVALID', `The saved grants in ${path} cannot be used: ${why}`, {
    hint: `${ToolError.is(cause) ? cause.fix.hint : 'Correct or delete the file.'} Until then every call that needs an approval asks.`,
    cause,
  })
}

function tooMany(path: string): ToolError {
  return new ToolError('FILE_TOO_LARGE', `${path} holds ${MOST_GRANTS} grants already.`, {
    hint: 'Revoke some: tool-hub grants.',
  })
}
