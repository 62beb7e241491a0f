import { constants } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isRunId, type RunArchives, ToolError } from '@tool-hub/core'
import { errnoOf, parseJson, shortPath } from '@tool-hub/core/lib'
import { assertOurFolder, assertOurs, type Lock, syncFolder, takeLock } from '@tool-hub/sandbox/system'
import { z } from 'zod'
import { diskError } from './disk-error.ts'
import { readRecordLines } from './lines.ts'

/** No file of an archive is larger. */
const MAX_BYTES = 64_000_000
const NEWLINE = 10
const LOCK_WAIT_MS = 15_000
const LOCK_STEP_MS = 20

/** The archives of the runs below a folder. */
export function openArchives(root: string): RunArchives {
  const pathOf = (run: string, file: string) => join(root, run, 'archive', file)
  return {
    runs: () => runsIn(root),
    append: (run, file, value) => appendValue(pathOf(run, file), value),
    read: (run, file) =>
      readValues(
        pathOf(run, file),
        z.unknown().refine((value) => value !== undefined),
      ),
    lock: (run, name, held) => lockArchive(pathOf(run, name), held),
  }
}

/**
 * What the lines of a file hold; nothing when it is not there. A line that does not fit, such as one that a crash has
 * torn, is passed over.
 */
export async function readValues<T>(path: string, schema: z.ZodType<T>): Promise<T[]> {
  const values: T[] = []
  try {
    const { size } = await stat(path)
    if (size > MAX_BYTES) throw tooLarge(path, size)
    for await (const lines of readRecordLines(path)) {
      for (const { bytes } of lines) {
        const parsed = schema.safeParse(parseJson(bytes.toString('utf8')))
        if (parsed.success) values.push(parsed.data)
      }
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR')
      throw diskError('An archive cannot be read', path, error)
  }
  return values
}

/** One line, on the disk itself when it resolves. A line that a crash has torn is ended first. */
export async function appendValue(path: string, value: unknown): Promise<void> {
  const folder = dirname(path)
  try {
    assertOurFolder(folder, shortPath(folder))
    const flags =
      constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK
    const file = await open(path, flags, 0o600)
    try {
      const stats = await file.stat()
      assertOurs(stats, shortPath(path), path)
      if (!stats.isFile() || stats.nlink > 1) throw notAlone(path)
      if (stats.size > MAX_BYTES) throw tooLarge(path, stats.size)
      const last = Buffer.alloc(1)
      if (stats.size > 0) await file.read(last, 0, 1, stats.size - 1)
      const isTorn = stats.size > 0 && last[0] !== NEWLINE
      await file.appendFile(`${isTorn ? '\n' : ''}${JSON.stringify(value)}\n`)
      await file.datasync()
      if (stats.size === 0) await syncFolder(folder)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw diskError('The archive cannot be written', path, error)
  }
}

/** Waits for the lock without blocking the thread. */
async function lockArchive(path: string, { what, hint }: { what: string; hint: string }): Promise<Lock> {
  for (let waitedMs = 0; ; waitedMs += LOCK_STEP_MS) {
    try {
      return takeLock(path, { what, fix: { hint } })
    } catch (error) {
      const isHeld = ToolError.is(error) && error.code === 'CONFLICT'
      if (!isHeld || waitedMs >= LOCK_WAIT_MS) throw diskError(`${what} cannot be locked`, path, error)
      await sleep(LOCK_STEP_MS)
    }
  }
}

async function runsIn(root: string): Promise<string[]> {
  try {
    const entries = await readdir(root, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && isRunId(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw diskError('The run records cannot be listed', root, error)
  }
}

function tooLarge(path: string, bytes: number): ToolError {
  return new ToolError(
    'BUDGET_EXCEEDED',
    `${shortPath(path)} has ${bytes} bytes; an archive holds at most ${MAX_BYTES}.`,
    {
      hint: 'Use another run.',
      details: { path },
    },
  )
}

function notAlone(path: string): ToolError {
  return new ToolError('CONFIG_INVALID', `${shortPath(path)} is a link, or has several names.`, {
    hint: 'Look who made it and why; then remove it.',
    details: { path },
  })
}
