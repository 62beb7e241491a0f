import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Whether lint accepts a changed file. Its rules are about promises, so only mutants that drop an `await` can break one. */
export function lintAccepts(root, file) {
  const { status, error, stdout } = spawnSync(join(root, 'node_modules/.bin/oxlint'), [file], {
    cwd: root,
    encoding: 'utf8',
  })
  if (error !== undefined || (status !== 0 && status !== 1))
    throw new Error(`oxlint failed: ${error?.message ?? stdout}`)
  return status === 0
}
