import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { CLI_MAIN, cliFolder } from '../../../../../test/support/cli.ts'

it('writes a tool and its test, and never over what is there', async () => {
  const empty = cliFolder(null)
  const { code, stdout, stderr } = await empty.run(['new', 'tool', 'notes.saveAll'])
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'notes-save-all.ts\nnotes-save-all.test.ts\n' })
  expect(stderr).toContain('createToolHub({ tools: [notesSaveAllTool] })')
  const text = readFileSync(join(empty.path, 'notes-save-all.ts'), 'utf8')
  expect(text).toContain("import { defineTool, ToolError } from 'tool-hub'")
  expect(text).toContain("name: 'notes.saveAll'")
  expect(text).toContain('Replace this')
  expect(readFileSync(join(empty.path, 'notes-save-all.test.ts'), 'utf8')).toContain("from './notes-save-all.js'")
  expect((await empty.run(['new', 'tool', 'notes.saveAll'])).code).toBe(2)
  expect((await empty.run(['new', 'tool', '../../evil'])).code).toBe(2)
  expect(existsSync(join(empty.path, '..', 'evil.ts'))).toBe(false)
  empty.remove()
})

it('writes a plugin file that the command line can call as it is', async () => {
  const project = cliFolder('plugins: [./notes-save.mjs]\n')
  mkdirSync(join(project.path, 'node_modules'))
  symlinkSync(resolve(CLI_MAIN, '../../..'), join(project.path, 'node_modules/tool-hub'))
  const { stdout, stderr } = await project.run(['new', 'tool', 'notes.save', '--js'])
  expect(stdout).toBe('notes-save.mjs\n')
  expect(stderr).toContain('plugins: [./notes-save.mjs]')
  expect((await project.run(['call', 'notes.save', '--text', 'hello'])).stdout).toBe('HELLO\n')
  const refused = await project.run(['call', 'notes.save', '--text', ' ', '--json'])
  expect(JSON.parse(refused.stdout).error.code).toBe('INPUT_SCHEMA_INVALID')
  project.remove()
})
