import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { countOpenFiles } from '../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { openRoots, type RootOptions, splitPath } from './roots.ts'
import { findLink, followLinks, refuseLink } from './walk.ts'

const base = temporaryFolder('open-roots')
mkdirSync(join(base, 'a/b/c'), { recursive: true })
mkdirSync(join(base, 'z'))
writeFileSync(join(base, 'file'), '')
symlinkSync('a', join(base, 'alias'))

function open(...options: readonly (readonly [string, RootOptions['mode']?, boolean?])[]) {
  const roots = openRoots(
    options.map(([path, mode = 'write', untrusted]) => ({ path: join(base, path), mode, untrusted })),
  )
  onTestFinished(() => roots.close())
  return roots
}

describe('a path', () => {
  it('is relative to the first root, and belongs to the deepest root that holds it', () => {
    const roots = open(['a'], ['a/b', 'read', true], ['z'])
    expect(roots.locate('x')).toMatchObject({
      path: join(base, 'a/x'),
      names: ['x'],
      saysFolder: false,
      root: { path: join(base, 'a'), mode: 'write', isUntrusted: false },
    })
    expect(roots.locate('b/x/')).toMatchObject({
      path: join(base, 'a/b/x'),
      names: ['x'],
      saysFolder: true,
      root: { path: join(base, 'a/b'), mode: 'read', isUntrusted: true },
    })
    expect(roots.locate('bc')).toMatchObject({ root: { path: join(base, 'a') } })
    expect(roots.locate(join(base, 'z/y'))).toMatchObject({ names: ['y'], root: { path: join(base, 'z') } })
  })

  it('is only read below a folder that is named for reading and for writing, in whatever order', () => {
    expect(open(['a', 'write'], ['a', 'read']).locate('x').root.mode).toBe('read')
    expect(open(['a', 'read'], ['a', 'write']).locate('x').root.mode).toBe('read')
  })

  it('may leave an inner root for the outer one, in whatever order they are named', () => {
    for (const roots of [open(['a'], ['a/b']), open(['a/b'], ['a'])])
      expect(roots.locate(`${base}/a/b/../x`).path).toBe(join(base, 'a/x'))
    expect(() => open(['a/b']).locate(`${base}/a/b/../b/x`)).toThrow('outside')
  })

  it.each(['..', 'x/../..', '../a/x', '/', '/etc/passwd'])('%j is outside, and the hint says what is not', (path) => {
    const roots = open(['a'], ['z'])
    expect(() => roots.locate(path)).toThrow(
      expect.objectContaining({
        code: 'PATH_OUTSIDE_SANDBOX',
        message: `${JSON.stringify(path)} is outside the sandbox roots.`,
        fix: {
          hint: `Use a path relative to ${base}/a, or an absolute one below ${base}/a or ${base}/z.`,
        },
      }),
    )
  })

  it('may be said by the name of the root that the owner wrote', () => {
    const roots = open(['alias'])
    expect(roots.locate(join(base, 'alias/x'))).toMatchObject({ path: join(base, 'a/x'), names: ['x'] })
    expect(roots.locate(join(base, 'a/x'))).toMatchObject({ path: join(base, 'a/x'), names: ['x'] })
    expect(() => roots.locate('..')).toThrow(
      expect.objectContaining({ fix: { hint: expect.stringContaining(join(base, 'alias')) } }),
    )
  })

  it('of a link stays inside, or the error names the link', () => {
    const roots = open(['a'])
    const from = roots.locate('l/')
    expect(roots.locateLink(join(base, 'a/b'), from)).toMatchObject({ names: ['b'], saysFolder: true })
    expect(() => roots.locateLink('/etc/passwd', from)).toThrow(`"${join(base, 'a/l')}" is outside`)
  })
})

describe('roots', () => {
  it.each([
    ['none', 'CONFIG_INVALID'],
    ['file', 'CONFIG_INVALID'],
  ])('are folders: %s is none, and what was opened before is closed', (path, code) => {
    const before = countOpenFiles()
    expect(() => open(['a'], [path])).toThrow(
      expect.objectContaining({
        code,
        message: `The sandbox root "${join(base, path)}" cannot be opened as a folder.`,
        fix: expect.objectContaining({
          hint: 'Create the folder, or name another one in sandbox.root or sandbox.roots.',
        }),
      }),
    )
    expect(countOpenFiles()).toBe(before)
  })

  it('are closed once, and then nothing is found', () => {
    const before = countOpenFiles()
    const roots = openRoots([{ path: base, mode: 'read' }])
    expect(countOpenFiles()).toBe(before + 1)
    roots.close()
    roots.close()
    expect(countOpenFiles()).toBe(before)
    expect(() => roots.locate('a')).toThrow('The sandbox has no open roots.')
  })

  it('are not opened on Windows, whose paths the guard does not know', () => {
    const platform = Object.getOwnPropertyDescriptor(process, 'platform')!
    Object.defineProperty(process, 'platform', { ...platform, value: 'win32' })
    try {
      expect(() => openRoots([])).toThrow(
        expect.objectContaining({
          code: 'SANDBOX_UNAVAILABLE',
          fix: { hint: 'Run the hub in the Windows Subsystem for Linux (WSL 2).' },
        }),
      )
    } finally {
      Object.defineProperty(process, 'platform', platform)
    }
  })
})

describe('a walk over links', () => {
  it('follows eight of them, and no ninth', () => {
    const roots = open(['z'])
    writeFileSync(join(base, 'z/l0'), '')
    for (let number = 1; number <= 9; number += 1) symlinkSync(`l${number - 1}`, join(base, `z/l${number}`))
    expect(followLinks(roots, 'l8', findLink).path).toBe(join(base, 'z/l0'))
    expect(() => followLinks(roots, 'l9', findLink)).toThrow(
      expect.objectContaining({ code: 'PATH_DENIED', message: '"l9" leads over more than 8 links.' }),
    )
  })

  it('keeps the names before and after a link', () => {
    const roots = open(['a'])
    mkdirSync(join(base, 'a/d'))
    symlinkSync('../b', join(base, 'a/d/l'))
    const before = countOpenFiles()
    expect(findLink(roots.locate('d/l/c/x'))).toEqual({ link: join(base, 'a/b/c/x'), at: join(base, 'a/d/l') })
    expect(findLink(roots.locate('d/l'))).toEqual({ link: join(base, 'a/b'), at: join(base, 'a/d/l') })
    expect(findLink(roots.locate('b/c'))).toMatchObject({ path: join(base, 'a/b/c') })
    expect(findLink(roots.locate('none/c'))).toMatchObject({ path: join(base, 'a/none/c') })
    expect(followLinks(roots, 'd/l/c', findLink).path).toBe(join(base, 'a/b/c'))
    expect(countOpenFiles()).toBe(before)
  })

  it('is refused to changes, with where the link leads', () => {
    const roots = open(['a'])
    expect(() => refuseLink(roots, { link: join(base, 'a/b') }, roots.locate('l'))).toThrow(
      expect.objectContaining({
        code: 'PATH_DENIED',
        message: `"${join(base, 'a/l')}" goes through a link; changes do not follow links.`,
        fix: { hint: `Use the path it leads to: ${join(base, 'a/b')}` },
      }),
    )
    expect(() => refuseLink(roots, { link: '/etc' }, roots.locate('l'))).toThrow('is outside')
  })
})

describe('a name', () => {
  const hint = 'Give the path of a file below a root.'

  it.each([
    ['a'.repeat(255), 1],
    [`${'a'.repeat(255)}/`.repeat(15) + 'b'.repeat(255), 16],
    ['é'.repeat(127), 1],
    ['漢'.repeat(85), 1],
  ])('may have 255 bytes, and a path 4,095', (path, count) => {
    expect(splitPath(path).names).toHaveLength(count)
  })

  it.each(['a'.repeat(256), '漢'.repeat(86), 'a/'.repeat(2_048), '', 'a\0'])('may not be longer or empty', (path) => {
    expect(() => splitPath(path)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', fix: { hint } }))
  })

  it.each([
    ['a', false, false],
    ['/a', true, false],
    ['a/', false, true],
    ['a/.', false, true],
    ['a/..', false, true],
    ['a/.b', false, false],
    ['a..', false, false],
  ])('%j is absolute: %j, and can only mean a folder: %j', (path, isAbsolute, saysFolder) => {
    expect(splitPath(path)).toMatchObject({ isAbsolute, saysFolder })
  })
})

const namesOf = (path: string) => splitPath(path).names

describe('splitPath', () => {
  it('takes a path literally: no tilde, variable, percent, glob or backslash means anything', () => {
    for (const name of ['~', '$HOME', '..%2f..%2fetc', '*.txt', '..\\..\\x', 'foo..', '...', '__proto__', ' ']) {
      expect(namesOf(name)).toEqual([name])
    }
  })

  it('drops empty names and dots, and keeps `..` for the code that knows the root', () => {
    expect(splitPath('//a/./b/../c')).toEqual({ isAbsolute: true, names: ['a', 'b', '..', 'c'], saysFolder: false })
  })

  it('knows a spelling that can only mean a folder', () => {
    for (const path of ['a/', 'a/.', 'a/..', '.', '/']) expect(splitPath(path).saysFolder).toBe(true)
  })

  it('refuses what no file can be called, with the numbers', () => {
    const bad: [unknown, RegExp][] = [
      ['', /empty/],
      ['a\0b', /NUL/],
      ['a\ud800b', /surrogate/],
      ['x'.repeat(256), /256 bytes, the limit is 255/],
      ['é'.repeat(128), /256 bytes, the limit is 255/],
      ['a/'.repeat(2048), /4096 bytes, the limit is 4095/],
      [null, /not null/],
      [{ toString: () => 'a' }, /not object/],
    ]
    for (const [path, message] of bad) {
      expect(() => splitPath(path as string)).toThrow(expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID' }))
      expect(() => splitPath(path as string)).toThrow(message)
    }
    expect(namesOf('é'.repeat(127))).toHaveLength(1)
  })

  it('never gives a name with a slash, whatever it is given', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', '/', '~', 'é', '\\') }), (path) => {
        if (path === '') return
        for (const name of namesOf(path)) expect(name).toMatch(/^[^/]+$/)
      }),
    )
  })
})
