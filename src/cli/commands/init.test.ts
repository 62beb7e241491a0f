import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'

it('writes a config that works, once', async () => {
  const first = cliFolder('')
  writeFileSync(join(first.path, 'tool-hub.yaml'), 'mine: true')
  expect((await first.run(['init'])).code).toBe(2)
  expect(readFileSync(join(first.path, 'tool-hub.yaml'), 'utf8')).toBe('mine: true')
  expect((await first.run(['init', '--force'])).code).toBe(0)
  expect((await first.run(['policy', 'check'])).code).toBe(0)
  first.remove()
})
