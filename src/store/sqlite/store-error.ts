import { messageOf, ToolError } from '../../core/errors.ts'
import { shortPath } from '../../lib/short-path.ts'

/** The primary code of each message: not every method of SQLite reports the number. */
const CODES: ReadonlyMap<string, number> = new Map([
  ['database is locked', 5],
  ['database table is locked', 6],
  ['attempt to write a readonly database', 8],
  ['disk I/O error', 10],
  ['database disk image is malformed', 11],
  ['database or disk is full', 13],
  ['unable to open database file', 14],
  ['file is not a database', 26],
])

/** An error of SQLite as one that says what to do; any other error is returned as it is. */
export function toStoreError(error: unknown, path: string): unknown {
  const code = codeOf(error)
  const name = shortPath(path)
  const details = { path, sqlite: messageOf(error) }
  const options = (hint: string, retryable = false) => ({ hint, retryable, details, cause: error })
  switch (code) {
    case 5:
    case 6:
      return new ToolError(
        'CONFLICT',
        `The store ${name} is locked by another process.`,
        options('Try again in a few seconds; if it stays so, end the process that has the file open.', true),
      )
    case 13:
      return new ToolError(
        'RECORDS_UNAVAILABLE',
        `The store ${name} cannot grow: the disk is full.`,
        options('Free space on the disk of that folder; nothing was written.', true),
      )
    case 8:
    case 10:
      return new ToolError(
        'RECORDS_UNAVAILABLE',
        `The store ${name} cannot be written: ${messageOf(error)}.`,
        options('Look at the disk of that folder, and whether it may be written.', true),
      )
    case 11:
    case 26:
      return damaged(path, messageOf(error), error)
    case 3:
    case 14:
      return new ToolError(
        'CONFIG_INVALID',
        `The store ${name} cannot be opened: ${messageOf(error)}.`,
        options('Look whether the folder is there and yours, and how many files are open.'),
      )
    default:
      return error
  }
}

/** The error for a file that cannot be relied on: what it contains may be wrong or incomplete. */
export function damaged(path: string, sqlite: string, cause?: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `The store ${shortPath(path)} is damaged, or no store: ${sqlite}.`, {
    hint: 'Move it away with its -wal and -shm files and put a backup in its place; without one, start anew.',
    details: { path, sqlite },
    cause,
  })
}

/** The error for a file that is not the one that was opened. */
export function replaced(path: string): ToolError {
  return new ToolError(
    'CONFIG_INVALID',
    `The store ${shortPath(path)} or its -wal file was removed or replaced while it is in use: what is written now is lost at the next start.`,
    {
      hint: 'Copy the store with tool-hub store backup only; stop the service, put the newest copy in its place and start it again.',
      details: { path, store: 'replaced' },
    },
  )
}

/** Whether SQLite reports that the file is damaged. */
export function isDamage(error: unknown): boolean {
  const code = codeOf(error)
  return code === 11 || code === 26
}

/** The primary code; `undefined` for other errors. */
function codeOf(error: unknown): number | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'ERR_SQLITE_ERROR')) return undefined
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff
  return CODES.get(error.message)
}
