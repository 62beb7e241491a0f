import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { openRoots } from '../roots.ts'
import { openPlace, readRulesAbove } from './run-search.ts'

const root = temporaryFolder('open-place')
const roots = openRoots([{ path: root, mode: 'read' }])
afterAll(() => roots.close())

function put(name: string, content = ''): void {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), content)
}

put('d/e/f', 'x')
symlinkSync('d/e', join(root, 'to-folder'))
symlinkSync('d/e/f', join(root, 'to-file'))
symlinkSync('to-folder', join(root, 'twice'))
execFileSync('mkfifo', [join(root, 'pipe')])

describe('the place of a search', () => {
  it.each([
    ['.', '', undefined],
    ['d', 'd', undefined],
    ['d/e/', 'd/e', undefined],
    ['d/e/f', 'd/e', 'f'],
    ['to-folder', 'd/e', undefined],
    ['to-file', 'd/e', 'f'],
    ['twice/f', 'd/e', 'f'],
  ])('%j is a folder, or one file in it', (path, folder, file) => {
    const before = countOpenFiles()
    const place = openPlace(roots, path)
    expect(countOpenFiles()).toBe(before + 1)
    expect(place.folder.path).toBe(join(root, folder))
    expect(place.folder.names).toEqual(folder.split('/').filter(Boolean))
    expect([place.file, place.target.path]).toEqual([file, join(root, folder, file ?? '')])
    place.close()
    expect(countOpenFiles()).toBe(before)
  })

  it.each([
    ['none', 'NOT_FOUND', '"none" does not exist.'],
    ['none/x', 'NOT_FOUND', '"none/x" does not exist.'],
    ['d/e/f/', 'NOT_FOUND', 'is a file, not a folder.'],
    ['pipe', 'PATH_DENIED', 'is not a regular file or a folder.'],
  ])('%j is none', (path, code, message) => {
    const before = countOpenFiles()
    expect(() => openPlace(roots, path)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    )
    expect(countOpenFiles()).toBe(before)
  })
})

describe('the rules above a searched folder', () => {
  const rulesAbove = (path: string) => readRulesAbove(roots.locate(path))

  it('come from every folder between the root and it, the nearest last, without its own', async () => {
    put('a/b/c/x')
    put('.gitignore', '/a/b/c/one\ntop')
    put('a/.gitignore', '/b/c/two')
    put('a/b/.gitignore', '/c/three')
    put('a/b/c/.gitignore', '/four')
    expect(await rulesAbove('a/b/c')).toBe('/one\ntop\n/two\n/three')
    expect(await rulesAbove('a')).toBe('/b/c/one\ntop')
    expect(await rulesAbove('.')).toBe('')
  })

  it('are none if no file can be read', async () => {
    put('g/h/i/x')
    mkdirSync(join(root, 'g/.gitignore'))
    symlinkSync('../../.gitignore', join(root, 'g/h/.gitignore'))
    expect(await rulesAbove('g/h/i')).toBe('top')
  })

  it('are read up to a million bytes, of which 65,536 characters count', async () => {
    put('l/m/x')
    put('l/.gitignore', `one\n${'#'.repeat(65_527)}\ntwo\nthree\n`)
    expect(await rulesAbove('l/m')).toBe('top\none\ntwo')
    put('l/.gitignore', 'a\n'.repeat(600_000))
    expect((await rulesAbove('l/m')).length).toBeLessThanOrEqual(4 + 65_536)
  })
})
