import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { applyEdit, diffOf, planEdit } from './file-edit.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-edit-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('shows a change, makes it, keeps the file as it was and its mode', () => {
  const file = join(folder, 'config.json')
  writeFileSync(file, 'one\ntwo\n')
  chmodSync(file, 0o600)
  const edit = planEdit(file, (before) => before.replace('two', 'three'))
  expect(diffOf(edit)).toContain('-two\n+three')
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n')
  expect(readFileSync(applyEdit(edit)!, 'utf8')).toBe('one\ntwo\n')
  expect(readFileSync(file, 'utf8')).toBe('one\nthree\n')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(applyEdit(planEdit(file, () => 'four\n'))).toBe(`${file}.backup-2`)
})

it('makes a file that is not there, with its folder, and has nothing to keep', () => {
  const file = join(folder, 'new', 'config.json')
  const edit = planEdit(file, (before) => `${before}x\n`)
  expect(diffOf(edit)).toContain('+x')
  expect(applyEdit(edit)).toBeUndefined()
  expect(readFileSync(file, 'utf8')).toBe('x\n')
  expect(existsSync(`${file}.tool-hub-new`)).toBe(false)
})
