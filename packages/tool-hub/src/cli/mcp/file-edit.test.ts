import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
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
  expect(readdirSync(join(folder, 'new'))).toEqual(['config.json'])
})

it('follows no link that lies where it writes', () => {
  const place = mkdtempSync(join(folder, 'planted-'))
  const [file, victim] = [join(place, 'config.json'), join(place, 'victim')]
  writeFileSync(file, 'one\n')
  writeFileSync(victim, 'mine')
  symlinkSync(victim, `${file}.tool-hub-new`)
  symlinkSync(join(place, 'not-there'), `${file}.backup`)
  expect(applyEdit(planEdit(file, () => 'two\n'))).toBe(`${file}.backup-2`)
  expect(readFileSync(victim, 'utf8')).toBe('mine')
  expect(readlinkSync(`${file}.backup`)).toBe(join(place, 'not-there'))
  expect(applyEdit(planEdit(file, () => 'three\n', { keepsOne: true }))).toBe(`${file}.backup`)
  expect(lstatSync(`${file}.backup`).isSymbolicLink()).toBe(false)
  expect(applyEdit(planEdit(file, () => 'four\n', { keepsOne: true }))).toBe(`${file}.backup`)
  expect(readFileSync(`${file}.backup`, 'utf8')).toBe('three\n')
  expect(readdirSync(place)).not.toContain('not-there')
})

it('leaves the folder that it may change by no link, also of a folder, and by none that leads nowhere', () => {
  const [home, project] = [mkdtempSync(join(folder, 'home-')), mkdtempSync(join(folder, 'project-'))]
  writeFileSync(join(home, 'settings.json'), '{}')
  symlinkSync(join(home, 'settings.json'), join(project, '.mcp.json'))
  symlinkSync(home, join(project, '.cursor'))
  symlinkSync(join(home, 'nothing'), join(project, 'broken.json'))
  for (const name of ['.mcp.json', '.cursor/mcp.json'])
    expect(() => planEdit(join(project, name), () => '', { within: project })).toThrow(/leads out of the folder/)
  expect(() => planEdit(join(project, 'broken.json'), () => '')).toThrow(/leads nowhere/)
  mkdirSync(join(project, 'real'))
  symlinkSync(join(project, 'real'), join(project, '.vscode'))
  expect(planEdit(join(project, '.vscode/mcp.json'), () => 'x', { within: project }).file).toContain('/real/mcp.json')
})

it('shows no secret, neither by its shape nor by its name', () => {
  const file = join(folder, 'secrets.json')
  writeFileSync(file, '{\n  "A_TOKEN": "hunter2",\n  "x": 1,\n  "API_KEY": "${env:K}"\n}\n')
  const shown = diffOf(planEdit(file, (before) => before.replace('1', `"ghp_${'a1'.repeat(18)}"`)))
  expect(shown).not.toMatch(/hunter2|ghp_|^===/m)
  expect(shown).toContain('"API_KEY": "${env:K}"')
})
