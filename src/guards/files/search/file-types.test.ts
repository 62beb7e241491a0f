import { execFileSync } from 'node:child_process'
import { rgPath } from '@vscode/ripgrep'
import { expect, it } from 'vitest'
import { FILE_TYPES } from './file-types.ts'

it('knows the types of the ripgrep that comes along', () => {
  const list = execFileSync(rgPath, ['--no-config', '--type-list'], { encoding: 'utf8' })
  expect([...FILE_TYPES].map(([name, globs]) => `${name}: ${globs.join(', ')}`)).toEqual(list.trim().split('\n'))
})
