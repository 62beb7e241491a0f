import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkEach } from '../../../../../test/support/check-each.ts'
import { gitIndexBytes, indexExtension } from '../../../../../test/support/git-index-bytes.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { type GitIndex, type HashBytes, readGitIndexInSteps, takeSteps } from './index-file.ts'

const readGitIndex = (bytes: Buffer, hashBytes: HashBytes) => takeSteps(readGitIndexInSteps(bytes, hashBytes))

/** A repository in which git itself has written an index. */
function repository(...init: readonly string[]) {
  const root = temporaryFolder('git-index')
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  const gitWith = (input: string, ...words: readonly string[]) =>
    execFileSync('git', [...identity, ...words], { cwd: root, env, encoding: 'utf8', input }).trim()
  const git = (...words: readonly string[]) => gitWith('', ...words)
  git('init', '-q', ...init)
  const write = (path: string, text = path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const read = (hashBytes: 20 | 32 = 20, name = 'index') =>
    readGitIndex(readFileSync(join(root, '.git', name)), hashBytes)
  return { root, git, gitWith, write, read }
}

const PATHS = [
  '.github/x.yml',
  '.gitattributes',
  'a b',
  'a-b',
  'a.b',
  'ab',
  'deep/er/file',
  'deep/er/file2',
  'git~x',
  'ü/ö',
]
const none = { submodules: [], assumedUnchanged: [], skipped: [], isSplit: false, caches: [], runLater: [] }

describe('an index that git wrote', () => {
  it.each([
    ['2', []],
    ['4', []],
    ['2', ['--object-format=sha256']],
    ['4', ['--object-format=sha256']],
  ])('of version %s is read: %j', (version, init) => {
    const { git, write, read } = repository(...init)
    for (const path of PATHS) write(path)
    git('add', '.')
    git('update-index', '--index-version', version)
    expect(read(init.length > 0 ? 32 : 20)).toEqual({ entries: PATHS.length, ...none })
  })

  it('of version 3 shows what is hidden, and what is only meant to be added', () => {
    const { git, write, read } = repository()
    for (const path of PATHS) write(path)
    git('add', '.')
    git('update-index', '--assume-unchanged', 'a-b')
    git('update-index', '--skip-worktree', 'ab', 'deep/er/file')
    write('new')
    git('add', '-N', 'new')
    const found = {
      submodules: [],
      isSplit: false,
      assumedUnchanged: ['a-b'],
      skipped: ['ab', 'deep/er/file'],
      caches: [],
      runLater: [],
    }
    expect(read()).toEqual({ entries: PATHS.length + 1, ...found })
    git('update-index', '--index-version', '4')
    expect(read()).toEqual({ entries: PATHS.length + 1, ...found })
  })

  it('shows submodules, and those of a conflict are read', () => {
    const { git, write, read } = repository()
    write('a', '1')
    git('add', '.')
    git('commit', '-qm', 'a')
    const head = git('rev-parse', 'HEAD').trim()
    git('update-index', '--add', '--cacheinfo', `160000,${head},lib/x`)
    expect(read()).toEqual({ entries: 2, ...none, submodules: ['lib/x'] })
    const blob = git('rev-parse', 'HEAD:a').trim()
    const stages = [1, 2, 3].map((stage) => `100644 ${blob} ${stage}\ta`).join('\n')
    execFileSync('git', ['update-index', '--index-info'], {
      cwd: dirname(git('rev-parse', '--absolute-git-dir').trim()),
      input: `0 ${'0'.repeat(40)}\ta\n${stages}\n`,
    })
    expect(read()).toMatchObject({ entries: 4 })
  })

  it('is read in both files if it is split', () => {
    const { root, git, write, read } = repository()
    for (const path of PATHS) write(path)
    git('add', '.')
    git('update-index', '--split-index')
    write('a b', 'changed')
    write('zz')
    git('add', '.')
    expect(read()).toMatchObject({ ...none, isSplit: true })
    const [shared] = readdirSync(join(root, '.git')).filter((name) => name.startsWith('sharedindex.'))
    expect(read(20, shared)).toEqual({ entries: PATHS.length, ...none })
  })

  it('is read if it is sparse', () => {
    const { git, write, read } = repository()
    for (const path of PATHS) write(path)
    git('add', '.')
    git('commit', '-qm', 'a')
    git('sparse-checkout', 'set', '--cone', '--sparse-index', 'ü')
    expect(read()).toMatchObject({ skipped: ['.github/', 'deep/'] })
  })

  it('is read with 10,000 entries, their offsets for threads and all caches', () => {
    const { root, git, gitWith, read } = repository()
    const blob = gitWith('x', 'hash-object', '-w', '--stdin')
    const lines = Array.from({ length: 10_000 }, (_, i) => `100644 ${blob}\tfolder-${i % 100}/file-${i}\n`)
    for (const [key, value] of [
      ['index.threads', '4'],
      ['core.untrackedCache', 'true'],
    ])
      git('config', key!, value!)
    gitWith(lines.join(''), 'update-index', '--index-info')
    git('commit', '-qm', 'a')
    git('status')
    const extensions = readFileSync(join(root, '.git/index'), 'latin1').match(/IEOT|EOIE|TREE|UNTR/g)
    expect(extensions?.toSorted()).toEqual(['EOIE', 'IEOT', 'TREE', 'UNTR'])
    const found = { entries: 10_000, ...none, caches: ['untracked cache'] }
    expect(read()).toEqual(found)
    git('update-index', '--index-version', '4')
    git('status')
    expect(read()).toEqual(found)
  })
})

const problem = (bytes: Buffer) => (readGitIndex(bytes, 20) as { problem?: string }).problem
const withPath = (path: string, mode?: number) => problem(gitIndexBytes([{ path, mode }]))

describe('an index that git would not have written', () => {
  it('has a path that leads elsewhere', () => {
    checkEach(
      [
        ...[
          '../x',
          '/x',
          'a/../x',
          './x',
          'a/./x',
          'a//x',
          'a/',
          '.git/config',
          '.GIT/x',
          'a/.git',
          '.git./x',
          '.git /x',
        ],
        ...[
          'git~1/config',
          'GIT~1/x',
          '.g\u200cit/x',
          '\u200c.git/x',
          '.git:x',
          '.git::$INDEX_ALLOCATION/x',
          'a\\.git\\x',
        ],
        ...['..', '.', '.git', 'a\\..\\x', '.git ', '.git...'],
      ],
      (path) => {
        expect(withPath(path)).toMatch(/its entry .* has/)
      },
    )
  })

  it('is another than one with an ordinary path', () => {
    checkEach(
      [
        '.gitattributes',
        '.gitmodules',
        '.github/x',
        'git/x',
        'a..b',
        '...',
        'x.git/y',
        'git~a',
        '.git-blame-ignore-revs',
      ],
      (path) => {
        expect(withPath(path)).toBeUndefined()
      },
    )
  })

  it('is read in small steps, however long its paths and however deep its folders are', () => {
    const stepsOf = (bytes: Buffer) => [...readGitIndexInSteps(bytes, 20)].length
    const long = Array.from({ length: 1_000 }, (_, index) => ({ path: `${index + 1_000}${'x'.repeat(4_000)}` }))
    const deep = Array.from({ length: 50 }, (_, index) => ({ path: `${index + 1_000}/${'d/'.repeat(1_000)}x` }))
    expect(stepsOf(gitIndexBytes(long))).toBeGreaterThan(50)
    expect(stepsOf(gitIndexBytes(deep))).toBeGreaterThan(40)
  })

  it('has a mode, a link or a folder that git does not add', () => {
    for (const mode of [0, 0o100600, 0o100777, 0o140000, 0o20000]) expect(withPath('a', mode)).toContain('the mode')
    // Git before 2.50.1 drops a carriage return at the end when it reads the path of a submodule again.
    expect(withPath('lib\r', 0o160000)).toContain('a control character')
    expect(withPath('lib\r', 0o100644)).toBeUndefined()
    expect(withPath('.gitmodules', 0o120000)).toContain('a link named .gitmodules')
    expect(withPath('a', 0o120000)).toBeUndefined()
    expect(withPath('a/', 0o040000)).toContain('an entry for a folder')
    const sparse = gitIndexBytes([{ path: 'a/', mode: 0o040000 }], indexExtension('sdir', Buffer.alloc(0)))
    expect(problem(sparse)).toBeUndefined()
  })

  it('has entries out of order, twice, or below a file', () => {
    const paths = (...names: readonly string[]) => problem(gitIndexBytes(names.map((path) => ({ path }))))
    expect(paths('b', 'a')).toContain('out of order')
    expect(paths('a', 'a')).toContain('out of order')
    expect(paths('a', 'a-b', 'a/b')).toContain('in the place of its folder')
    expect(paths('a', 'a-b', 'a.b', 'ab', 'b/c')).toBeUndefined()
  })

  it('has a path with two lengths, or none', () => {
    const bytes = gitIndexBytes([{ path: 'abcdef' }])
    bytes.writeUInt16BE(3, 12 + 60)
    expect(problem(bytes)).toContain('two lengths')
    expect(problem(gitIndexBytes([{ path: '' }]))).toContain('without a path')
    const link = indexExtension('link', Buffer.alloc(20))
    expect(problem(gitIndexBytes([{ path: '' }], link))).toBeUndefined()
    expect(problem(gitIndexBytes([{ path: '', mode: 0o160000 }], link))).toContain('submodule')
  })

  it('has tables that lead threads elsewhere, or an extension that git does not know', () => {
    const table = (offset: number, count: number) => {
      const content = Buffer.alloc(12)
      content.writeUInt32BE(1)
      content.writeUInt32BE(offset, 4)
      content.writeUInt32BE(count, 8)
      return indexExtension('IEOT', content)
    }
    const end = Buffer.alloc(24)
    end.writeUInt32BE(76)
    const entries = [{ path: 'a' }]
    expect(problem(gitIndexBytes(entries, indexExtension('EOIE', end), table(12, 1)))).toBeUndefined()
    for (const wrong of [table(20, 1), table(12, 2), table(12, 0)])
      expect(problem(gitIndexBytes(entries, wrong))).toContain('contradict')
    end.writeUInt32BE(68)
    expect(problem(gitIndexBytes(entries, indexExtension('EOIE', end)))).toContain('contradict')
    expect(problem(gitIndexBytes(entries, indexExtension('evil', end)))).toContain('not known')
    expect(problem(gitIndexBytes(entries, indexExtension('XTRA', end)))).toBeUndefined()
  })

  it('is cut off anywhere, or has any bit changed: it is read or refused, and never slow', () => {
    const { root, git, write } = repository()
    for (const path of PATHS) write(path)
    git('add', '.')
    git('commit', '-qm', 'a')
    for (const version of ['2', '4']) {
      git('update-index', '--index-version', version)
      const bytes = readFileSync(join(root, '.git/index'))
      const isReadOrRefused = (some: Buffer) => {
        const index = readGitIndex(some, 20)
        return 'problem' in index || (index satisfies GitIndex).entries === PATHS.length
      }
      const lengths = Array.from(bytes, (_, length) => length)
      expect(lengths.filter((length) => !isReadOrRefused(bytes.subarray(0, length)))).toEqual([])
      const bits = Array.from({ length: bytes.length * 8 }, (_, bit) => bit)
      const withChanged = (bit: number) => {
        const changed = Buffer.from(bytes)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        return changed
      }
      expect(bits.filter((bit) => !isReadOrRefused(withChanged(bit)))).toEqual([])
    }
    const huge = Buffer.alloc(1024 ** 2)
    gitIndexBytes([]).copy(huge)
    huge.writeUInt32BE(0xffffffff, 8)
    expect(problem(huge)).toBe('it is cut off')
  })
})
