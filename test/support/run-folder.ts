import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/**
 * Gives the whole run one private temporary folder, and fails the run if anything is left in it at the end. Each worker
 * has a folder of its own inside; `check-temporary-folder.ts` makes it, and checks it after every file.
 */
export default function makeRunFolder(project: TestProject): void {
  if (!project.isRootProject()) return
  // Short, because the path of a socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 'th-'))
  const temporary = join(folder, 't')
  mkdirSync(temporary)
  // Tests start processes of other users.
  chmodSync(folder, 0o755)
  chmodSync(temporary, 0o1777)
  process.env.TOOL_HUB_TEST_FOLDER = folder
  process.env.TMPDIR = temporary
  // Not at teardown: the workers end after it.
  process.once('exit', () => {
    const left = readdirSync(temporary, { recursive: true })
      .map(String)
      .filter((name) => !/^\d+$/.test(name))
    rmSync(folder, { recursive: true, force: true })
    if (left.length === 0) return
    console.error(`The run left in its temporary folder, by worker:\n${left.join('\n')}`)
    process.exitCode = 1
  })
}
