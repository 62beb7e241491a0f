import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { syncFolder } from '@tool-hub/sandbox/system'

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
const WRONG_PLACE = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EISDIR',
  'EEXIST',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
])

const NO_DESCRIPTORS = new Set(['EMFILE', 'ENFILE'])

/**
 * Makes an error of a failed disk operation, with what the owner can do. The path is only in its details, for the
 * audit.
 */
export function diskError(doing: string, path: string, cause: unknown): ToolError {
  // It is explained already.
  if (ToolError.is(cause)) return cause
  const code = errnoOf(cause)
  const options = { cause, details: { path, errno: code } }
  if (FULL.has(code)) {
    return new ToolError('RECORDS_UNAVAILABLE', `${doing}: the disk is full (${code}).`, {
      ...options,
      fix: { key: 'runs', hint: 'Free space on the disk of the run records, or point runs to another one.' },
    })
  }
  if (WRONG_PLACE.has(code)) {
    return new ToolError('CONFIG_INVALID', `${doing}: the folder cannot be used (${code}).`, {
      ...options,
      fix: { key: 'runs', hint: 'Point runs to a folder that this user can create and write.' },
    })
  }
  if (NO_DESCRIPTORS.has(code)) {
    return new ToolError('RECORDS_UNAVAILABLE', `${doing}: no file descriptors are left (${code}).`, {
      ...options,
      hint: 'Raise the limit of open files (ulimit -n, or LimitNOFILE of the unit), or keep fewer runs open.',
    })
  }
  return new ToolError('RECORDS_UNAVAILABLE', `${doing}: the disk failed (${code}).`, {
    ...options,
    fix: { key: 'runs', hint: 'Check the disk of the run records, or point runs to another one.' },
  })
}

/** Longer than a line: a disk that takes this takes the next records, too. */
const PROBE_BYTES = 65_536

/** Makes a file durable; tests replace it by a failing disk. */
type SyncFile = (file: FileHandle) => Promise<void>

/** Writes a file to the folder of the records, syncs it as a record is, and removes it. Rejects if the disk refuses. */
export async function checkRecords(
  folder: string,
  { syncFile = (file) => file.datasync() }: { readonly syncFile?: SyncFile } = {},
): Promise<void> {
  const path = join(folder, `.check-${randomBytes(8).toString('hex')}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES))
      await Promise.all([syncFile(file), syncFolder(folder)])
    } finally {
      await file.close()
      await rm(path, { force: true })
    }
  } catch (error) {
    throw diskError('Nothing can be recorded', folder, error)
  }
}
