import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import { ignoreByGit } from './ignore-by-git.ts'

it('leaves nothing untracked in a repository after a call', async () => {
  const folder = cliFolder(null, '/nowhere')
  spawnSync('git', ['init', '-q'], { cwd: folder.path })
  for (let count = 0; count < 2; count++) await folder.run(['call', 'core/util.cache.set', '{"key":"a","value":"b"}'])
  const verified = await folder.run(['audit', 'verify'])
  const { stdout } = spawnSync('git', ['status', '--short'], { cwd: folder.path, encoding: 'utf8' })
  folder.remove()
  expect(stdout).toBe('?? plugin.mjs\n')
  expect(verified).toMatchObject({ code: 0 })
})

it('leaves folders with files of others alone, and those outside of a repository', () => {
  const folder = temporaryFolder()
  const [data, runs] = [join(folder, 'data'), join(folder, 'runs')]
  mkdirSync(join(runs, 'run-1'), { recursive: true })
  mkdirSync(data)
  writeFileSync(join(data, 'created.json'), '{}')
  writeFileSync(join(runs, 'run-1/events.jsonl'), '')
  ignoreByGit({ data, runs })
  expect(existsSync(join(data, '.gitignore'))).toBe(false)
  mkdirSync(join(folder, '.git'))
  writeFileSync(join(runs, 'notes.md'), 'mine')
  ignoreByGit({ data, runs })
  expect(existsSync(join(data, '.gitignore'))).toBe(true)
  expect(existsSync(join(runs, '.gitignore'))).toBe(false)
})
