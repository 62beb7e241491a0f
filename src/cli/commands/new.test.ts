import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { cliFolder } from '../../../test/support/cli.ts'

it('writes a tool and its test, and never over what is there', async () => {
  const empty = cliFolder(null)
  const { code, stdout } = await empty.run(['new', 'tool', 'notes.saveAll'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'notes-save-all.ts\nnotes-save-all.test.ts\n' })
  const text = readFileSync(join(empty.path, 'notes-save-all.ts'), 'utf8')
  expect(text).toContain("import { defineTool, ToolError } from 'tool-hub'")
  expect(text).toContain("name: 'notes.saveAll'")
  expect((await empty.run(['new', 'tool', 'notes.saveAll'])).code).toBe(2)
  expect((await empty.run(['new', 'tool', '../../evil'])).code).toBe(2)
  expect(existsSync(join(empty.path, '..', 'evil.ts'))).toBe(false)
  empty.remove()
})
