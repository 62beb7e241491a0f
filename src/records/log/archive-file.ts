import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { z } from 'zod'
import { ToolError } from '../../core/index.ts'
import { errnoOf, parseJson, shortPath } from '../../lib/index.ts'
import { assertOurFolder, assertOurs, syncFolder } from '../../system/index.ts'
import { diskError } from './disk-error.ts'
import { readRecordLines } from './lines.ts'

/** No file of an archive is larger. */
const MAX_BYTES = 64_000_000
const NEWLINE = 10

/** What the lines of a file hold; nothing when it is not there. A line that does not fit, such as one that a crash has torn, is passed over. */
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
