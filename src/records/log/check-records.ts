import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { diskError } from './disk-error.ts'

/** More than a line has: a disk that takes it takes the next records, too. */
const PROBE_BYTES = 65_536

/** Writes a file to the folder of the records and takes it away again; rejects with what the disk says. */
export async function checkRecords(folder: string): Promise<void> {
  const path = join(folder, `.check-${randomBytes(8).toString('hex')}`)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(Buffer.alloc(PROBE_BYTES))
    } finally {
      await file.close()
      await rm(path, { force: true })
    }
  } catch (error) {
    throw diskError('Nothing can be recorded', folder, error)
  }
}
