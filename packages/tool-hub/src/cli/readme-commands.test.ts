import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CLI_MAIN, cliFolder } from '../../../../test/support/cli.ts'

const COMMANDS = /## On the command line\n\n```sh\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))![1]!

it('works, every command of the README one after the other, and leaves the file as it was', () => {
  const { path, write, remove } = cliFolder(null)
  mkdirSync(join(path, 'notes'))
  write('notes/a.md', '# hi')
  const script = COMMANDS.replaceAll('npx tool-hub', `'${process.execPath}' '${CLI_MAIN}'`)
  const { status, stderr, stdout } = spawnSync('sh', ['-ec', script], { cwd: path, encoding: 'utf8' })
  expect({ status, stderr }).toMatchObject({ status: 0 })
  expect(stdout).toMatch(/^restored +notes\/a\.md$/m)
  expect(readFileSync(join(path, 'notes/a.md'), 'utf8')).toBe('# hi')
  remove()
})
