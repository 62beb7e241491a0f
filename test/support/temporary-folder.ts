import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

/**
 * A new, empty folder that is removed after the last test of the file. Call it anywhere: in a test, a hook or outside of
 * both. The path has no links in it.
 */
export function temporaryFolder(name = 'test'): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `${name}-`))
  made.push(folder)
  return folder
}

/** Called after each file by `check-temporary-folder.ts`. */
export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}
