import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../usage-error.ts'

/** Refuses an option that should name a folder and does not. */
export function assertFolder(option: string, path: string): void {
  const stats = statSync(resolve(path), { throwIfNoEntry: false })
  if (stats?.isDirectory()) return
  throw new UsageError(
    `${option} ${JSON.stringify(path)} ${stats ? 'is no folder' : 'does not exist'}.`,
    stats ? 'Give a folder.' : 'Make the folder first, or give another.',
  )
}

/** Refuses an option that should name a file and does not. */
export function assertFile(option: string, path: string): void {
  const stats = statSync(resolve(path), { throwIfNoEntry: false })
  if (stats?.isFile()) return
  throw new UsageError(
    `${option} ${JSON.stringify(path)} ${stats ? 'is no file' : 'does not exist'}.`,
    'Give the path of a config; tool-hub init writes one.',
  )
}
