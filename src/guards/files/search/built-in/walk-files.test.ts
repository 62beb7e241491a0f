import { closeSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { fileAccess } from '../../access/choose-access.ts'
import type { FileChoice } from '../search-job.ts'
import { readSearchable } from './read-searchable.ts'
import { walkFiles } from './walk-files.ts'

let root: string

beforeEach(() => {
  root = temporaryFolder('walk-files')
})

function tree(files: Record<string, string | Buffer>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), content)
  }
}

/** The paths in the order of the walk, and `?` for each folder that could not be looked into. */
function walk(choice: Partial<FileChoice> = {}, rulesAbove = '', access = fileAccess): string[] {
  const whole = { globRules: '', includeHidden: false, includeIgnored: false, ...choice }
  const before = countOpenFiles()
  const descriptor = fileAccess.openBase(root)
  const found: string[] = []
  try {
    const start = { access, descriptor, rulesAbove }
    for (const { path, name } of walkFiles(start, whole, () => found.push('?'))) {
      expect(path.endsWith(name)).toBe(true)
      found.push(path)
    }
  } finally {
    closeSync(descriptor)
  }
  expect(countOpenFiles()).toBe(before)
  return found
}

describe('a walk', () => {
  it('comes to every file in the order of the names, below a folder where its name stands', () => {
    tree({ 'b/y': '', 'b/x': '', a: '', 'b/c/z': '', c: '', B: '' })
    expect(walk()).toEqual(['B', 'a', 'b/c/z', 'b/x', 'b/y', 'c'])
  })

  it('comes to hidden files only if asked, and never to secrets, git and drafts', () => {
    tree({ '.h': '', '.d/a': '', '.git/c': '', '.env': '', 'x.pem': '', '.tool-hub-1.tmp': '', a: '' })
    expect(walk()).toEqual(['a'])
    expect(walk({ includeHidden: true })).toEqual(['.d/a', '.h', 'a'])
  })

  it('comes to no link and nothing behind one', () => {
    tree({ 'd/a': '' })
    symlinkSync('d', join(root, 'l'))
    symlinkSync('d/a', join(root, 'f'))
    expect(walk()).toEqual(['d/a'])
  })

  it('comes to files of one type only, but looks into every folder', () => {
    tree({ 'a.ts': '', 'b.js': '', 'd.js/c.ts': '' })
    expect(walk({ type: 'ts' })).toEqual(['a.ts', 'd.js/c.ts'])
    expect(walk({ type: 'no-such-type' })).toEqual([])
  })

  it('obeys the nearest rules first, then those above, then the globs', () => {
    tree({ '.gitignore': '*.log\n!keep.log', 'a.log': '', 'keep.log': '', 'd/.gitignore': '!b.log', 'd/b.log': '' })
    tree({ 'd/keep.log': '', 'd/e/b.log': '', 'x.txt': '' })
    expect(walk()).toEqual(['d/b.log', 'd/e/b.log', 'd/keep.log', 'keep.log', 'x.txt'])
    expect(walk({ globRules: '*.txt' })).toEqual(['d/b.log', 'd/e/b.log', 'd/keep.log', 'keep.log'])
    expect(walk({}, 'd/\nx.txt')).toEqual(['keep.log'])
    expect(walk({ globRules: '!x.txt' }, 'x.txt')).not.toContain('x.txt')
    expect(walk({ includeIgnored: true }, 'd/\nx.txt')).toHaveLength(6)
  })

  it('takes rules relative to the folder that holds them', () => {
    tree({ 'd/.gitignore': '/a', 'd/a': '', 'd/e/a': '', a: '' })
    expect(walk()).toEqual(['a', 'd/e/a'])
  })

  it('reads rules up to a million bytes, and none from a folder or a link', () => {
    tree({ '.gitignore': `a\n${'#'.repeat(999_997)}\nb`, a: '', b: '', 'd/a': '', 'd/.gitignore/x': '', 'e/c': '' })
    symlinkSync('../rules', join(root, 'e/.gitignore'))
    tree({ rules: 'c' })
    // The millionth byte is the line end; the rule after it is not read.
    expect(readFileSync(join(root, '.gitignore')).indexOf('b')).toBe(1_000_000)
    expect(walk()).toEqual(['b', 'e/c', 'rules'])
  })

  it.each<['look' | 'openFolder' | 'open', string[]]>([
    ['look', ['?']],
    ['openFolder', ['c', '?']],
    // Rules that cannot be read leave nothing out.
    ['open', ['b', 'c', 'd/a']],
  ])('counts what it cannot look into: `%s` fails', (broken, expected) => {
    tree({ 'd/a': '', b: '', c: '', '.gitignore': 'b' })
    const fail = () => {
      throw new Error('gone')
    }
    expect(walk({}, '', { ...fileAccess, [broken]: fail })).toEqual(expected)
  })
})

describe('the text of a file that is searched', () => {
  const read = (content: string | Buffer) => {
    tree({ f: content })
    const descriptor = fileAccess.openBase(root)
    try {
      return readSearchable(fileAccess, descriptor, 'f')
    } finally {
      closeSync(descriptor)
    }
  }
  const wide = Buffer.from('\uFEFFä\n漢', 'utf16le')

  it.each<[string, string | Buffer, string | undefined]>([
    ['UTF-8', 'ä\n漢', 'ä\n漢'],
    ['UTF-8 with a mark', '\uFEFFä\n漢', 'ä\n漢'],
    ['UTF-16', wide, 'ä\n漢'],
    ['UTF-16 with the large end first', Buffer.from(wide).swap16(), 'ä\n漢'],
    ['nothing', '', ''],
    ['a NUL character, which makes it binary', 'a\0b', undefined],
  ])('may be %s', (_, content, expected) => {
    expect(read(content)).toBe(expected)
  })

  it('is that of a regular file of at most 50 MB, and nothing stays open', () => {
    mkdirSync(join(root, 'd'))
    const descriptor = fileAccess.openBase(root)
    const before = countOpenFiles()
    try {
      expect(() => readSearchable(fileAccess, descriptor, 'd')).toThrow('Not a file')
      writeFileSync(join(root, 'large'), Buffer.alloc(50_000_000, 'x'))
      expect(readSearchable(fileAccess, descriptor, 'large')).toHaveLength(50_000_000)
      writeFileSync(join(root, 'large'), 'x', { flag: 'a' })
      expect(() => readSearchable(fileAccess, descriptor, 'large')).toThrow('too large')
      expect(countOpenFiles()).toBe(before)
    } finally {
      closeSync(descriptor)
    }
  })
})
