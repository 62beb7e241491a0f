import fs, {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { descriptorAccess } from './choose-access.ts'
import { type FileAccess, type FolderEntry, pathAccess } from './path-access.ts'

let root: string

beforeEach(() => {
  root = temporaryFolder('file-access')
  mkdirSync(join(root, 'd'))
  mkdirSync(join(root, 'e'))
  for (const name of ['a', 'd/b', 'd/c']) writeFileSync(join(root, name), name)
  mkdirSync(join(root, 'd/full/x'), { recursive: true })
  mkdirSync(join(root, 'd/empty'))
  symlinkSync('b', join(root, 'd/l'))
  symlinkSync('d', join(root, 'l'))
})

const CREATE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
const names = (path = 'd') => readdirSync(join(root, path)).sort()
const text = (path: string) => readFileSync(join(root, path), 'utf8')
const BEFORE = ['b', 'c', 'empty', 'full', 'l']

function closing(descriptor: number): number {
  onTestFinished(() => closeSync(descriptor))
  return descriptor
}

/** The root, and two folders in it, open until the test has ended. */
function opened(access: FileAccess) {
  const base = closing(access.openBase(root))
  const [d, e] = ['d', 'e'].map((name) => closing(access.openFolder(base, access.at(base, name))))
  const entry = (name: string, folder = d!): FolderEntry => ({ folder, path: access.at(folder, name) })
  return { base, d: d!, e: e!, entry }
}

const errno = (expected: string) => expect.objectContaining({ code: expected })

describe.each([descriptorAccess, pathAccess])('access by $level', (access) => {
  it('leads from a folder to the names in it', () => {
    const { base, d } = opened(access)
    expect(realpathSync(access.path(d))).toBe(join(root, 'd'))
    expect(readFileSync(access.at(d, 'b'), 'utf8')).toBe('d/b')
    expect(readFileSync(access.atBytes(d, 'b'), 'utf8')).toBe('d/b')
    expect(readFileSync(`${access.prefix(d)}b`, 'utf8')).toBe('d/b')
    expect(statSync(access.at(base, '.')).ino).toBe(statSync(root).ino)
    expect(statSync(access.atBytes(d, '.')).ino).toBe(statSync(join(root, 'd')).ino)
    const top = closing(access.openBase('/'))
    expect([access.at(top, 'proc'), access.at(top, '.'), access.prefix(top)].map((path) => existsSync(path))).toEqual([
      ...[true, true, true],
    ])
    expect(realpathSync(access.at(top, 'proc'))).toBe('/proc')
  })

  it('opens folders, and neither links nor files', () => {
    const { base, d } = opened(access)
    const before = countOpenFiles()
    const open = (name: string) => access.openFolder(base, access.at(base, name))
    expect(fstatSync(d).ino).toBe(statSync(join(root, 'd')).ino)
    for (const [name, code] of [
      ['l', 'ENOTDIR'],
      ['a', 'ENOTDIR'],
      ['none', 'ENOENT'],
    ] as const)
      expect(() => open(name)).toThrow(name === 'l' ? expect.objectContaining({ syscall: 'open' }) : errno(code))
    expect(countOpenFiles()).toBe(before)
  })

  it('opens files, and no link', async () => {
    const { d } = opened(access)
    const before = countOpenFiles()
    const open = (name: string, flags: number = constants.O_RDONLY) => access.open(d, access.at(d, name), flags)
    closeSync(open('b'))
    expect(() => open('l')).toThrow(errno('ELOOP'))
    expect(() => open('none')).toThrow(errno('ENOENT'))
    const handle = await access.openHandle(d, access.at(d, 'b'), constants.O_RDONLY)
    expect(await handle.readFile('utf8')).toBe('d/b')
    await handle.close()
    for (const [name, code] of [
      ['l', 'ELOOP'],
      ['none', 'ENOENT'],
    ] as const)
      await expect(access.openHandle(d, access.at(d, name), constants.O_RDONLY)).rejects.toThrow(errno(code))
    expect(countOpenFiles()).toBe(before)
  })

  it('makes files with their mode where the name is free', async () => {
    const { d } = opened(access)
    closeSync(access.open(d, access.at(d, 'new'), CREATE, 0o600))
    const handle = await access.openHandle(d, access.at(d, 'more'), CREATE, 0o640)
    await handle.writeFile('text')
    await handle.close()
    expect([text('d/new'), text('d/more')]).toEqual(['', 'text'])
    expect(['d/new', 'd/more'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([0o600, 0o640])
    expect(() => access.open(d, access.at(d, 'b'), CREATE, 0o600)).toThrow(errno('EEXIST'))
    await expect(access.openHandle(d, access.at(d, 'b'), CREATE, 0o600)).rejects.toThrow(errno('EEXIST'))
    expect(text('d/b')).toBe('d/b')
  })

  it('looks at names, never behind a link', () => {
    const { d } = opened(access)
    for (const stat of [access.stat, access.statBig] as const) {
      expect(stat(d, access.at(d, 'b'))?.isFile()).toBe(true)
      expect(stat(d, access.at(d, 'l'))?.isSymbolicLink()).toBe(true)
      expect(stat(d, access.at(d, 'none'))).toBeUndefined()
    }
    expect(access.statBig(d, access.at(d, 'b'))?.size).toBe(3n)
    expect(access.look(d, () => 'seen', Object.is)).toBe('seen')
    const fail = () => {
      throw errno('ENOENT')
    }
    expect(() => access.look(d, fail, Object.is)).toThrow()
    expect(access.change(d, () => 'done')).toBe('done')
  })

  it('renames in a folder and to another one, over a file that is there', () => {
    const { d, e, entry } = opened(access)
    access.rename(entry('b'), entry('n'))
    expect([names(), text('d/n')]).toEqual([['c', 'empty', 'full', 'l', 'n'], 'd/b'])
    access.rename(entry('n'), entry('c'))
    expect([names(), text('d/c')]).toEqual([['c', 'empty', 'full', 'l'], 'd/b'])
    access.rename(entry('c'), entry('far', e))
    access.rename(entry('full'), entry('folder', e))
    access.rename(entry('l'), entry('link', e))
    expect([names(), names('e'), text('e/far')]).toEqual([['empty'], ['far', 'folder', 'link'], 'd/b'])
    expect([names('e/folder'), readlinkSync(join(root, 'e/link'))]).toEqual([['x'], 'b'])
    access.rename(entry('link', e), entry('back', d))
    expect(names()).toEqual(['back', 'empty'])
  })

  it('leaves all as it was where it cannot rename', () => {
    const { e, entry } = opened(access)
    writeFileSync(join(root, 'e/file'), 'file')
    expect(() => access.rename(entry('none'), entry('n'))).toThrow(errno('ENOENT'))
    expect(() => access.rename(entry('b'), entry('full'))).toThrow(errno('EISDIR'))
    expect(() => access.rename(entry('empty'), entry('full'))).toThrow(errno('ENOTEMPTY'))
    expect(() => access.rename(entry('empty'), entry('file', e))).toThrow(errno('ENOTDIR'))
    expect([names(), names('e'), text('d/b')]).toEqual([BEFORE, ['file'], 'd/b'])
  })

  it('gives a file a second name, where that is free', () => {
    const { e, entry } = opened(access)
    access.link(entry('b'), entry('n'))
    access.link(entry('b'), entry('far', e))
    expect(['d/b', 'd/n', 'e/far'].map((name) => statSync(join(root, name)).nlink)).toEqual([3, 3, 3])
    expect(() => access.link(entry('b'), entry('c'))).toThrow(errno('EEXIST'))
    expect(() => access.link(entry('none'), entry('m'))).toThrow(errno('ENOENT'))
    expect([names(), text('d/c'), statSync(join(root, 'd/b')).nlink]).toEqual([[...BEFORE, 'n'], 'd/c', 3])
  })

  it('removes files and links, and leaves folders', () => {
    const { entry } = opened(access)
    access.unlink(entry('l'))
    access.unlink(entry('b'))
    expect(names()).toEqual(['c', 'empty', 'full'])
    expect(() => access.unlink(entry('none'))).toThrow(errno('ENOENT'))
    expect(() => access.unlink(entry('full'))).toThrow(expect.objectContaining({ syscall: 'unlink' }))
    expect([names(), names('d/full')]).toEqual([['c', 'empty', 'full'], ['x']])
  })

  it('makes and removes folders', () => {
    const { entry } = opened(access)
    access.makeFolder(entry('n'), 0o700)
    access.makeFolder(entry('m'))
    expect(statSync(join(root, 'd/n')).mode & 0o777).toBe(0o700)
    for (const name of ['b', 'empty', 'full', 'l'])
      expect(() => access.makeFolder(entry(name))).toThrow(errno('EEXIST'))
    expect(names()).toEqual([...BEFORE, 'm', 'n'])
    for (const name of ['n', 'm', 'empty']) access.removeFolder(entry(name))
    expect(() => access.removeFolder(entry('full'))).toThrow(errno('ENOTEMPTY'))
    expect(() => access.removeFolder(entry('b'))).toThrow(errno('ENOTDIR'))
    expect(() => access.removeFolder(entry('none'))).toThrow(errno('ENOENT'))
    expect([names(), names('d/full'), text('d/b')]).toEqual([['b', 'c', 'full', 'l'], ['x'], 'd/b'])
  })
})

describe('access by paths', () => {
  it.each<[string, (d: number, entry: (name: string) => FolderEntry, e: number) => unknown]>([
    ['opens', (d) => pathAccess.open(d, pathAccess.at(d, 'b'), constants.O_RDONLY)],
    ['opens for work', (d) => pathAccess.openHandle(d, pathAccess.at(d, 'b'), constants.O_RDONLY)],
    ['opens a folder', (d) => pathAccess.openFolder(d, pathAccess.at(d, 'full'))],
    ['makes', (d) => pathAccess.open(d, pathAccess.at(d, 'new'), CREATE, 0o600)],
    ['makes for work', (d) => pathAccess.openHandle(d, pathAccess.at(d, 'new'), CREATE, 0o600)],
    ['stats', (d) => pathAccess.stat(d, pathAccess.at(d, 'b'))],
    ['looks', (d) => pathAccess.look(d, () => 1, Object.is)],
    ['changes', (d) => pathAccess.change(d, () => expect.fail('changed'))],
    ['renames', (_, entry) => pathAccess.rename(entry('b'), entry('n'))],
    ['renames from elsewhere', (_, entry, e) => pathAccess.rename({ folder: e, path: join(root, 'e/f') }, entry('n'))],
    ['links', (_, entry) => pathAccess.link(entry('b'), entry('n'))],
    ['removes', (_, entry) => pathAccess.unlink(entry('b'))],
    ['makes a folder', (_, entry) => pathAccess.makeFolder(entry('n'))],
    ['removes a folder', (_, entry) => pathAccess.removeFolder(entry('empty'))],
  ])('%s nothing in a folder that somebody put in the place of another', async (_, use) => {
    const { d, e, entry } = opened(pathAccess)
    writeFileSync(join(root, 'e/f'), 'f')
    renameSync(join(root, 'd'), join(root, 'away'))
    mkdirSync(join(root, 'd/empty'), { recursive: true })
    mkdirSync(join(root, 'd/full'))
    writeFileSync(join(root, 'd/b'), 'other')
    const before = countOpenFiles()
    await expect((async () => use(d, entry, e))()).rejects.toMatchObject({
      code: 'CONFLICT',
      message: `"${join(root, 'd')}", or a folder above it, was exchanged or moved while it was used.`,
      retryable: true,
      fix: { hint: 'Try again when nothing else renames folders there.' },
    })
    expect([names(), names('away'), names('e')]).toEqual([['b', 'empty', 'full'], BEFORE, ['f']])
    expect([text('d/b'), text('away/b')]).toEqual(['other', 'd/b'])
    expect(countOpenFiles()).toBe(before)
  })

  it('looks again where the way was changed just now, and refuses what is another by then', () => {
    const { d } = opened(pathAccess)
    // As if every folder had been changed a moment ago.
    const now = vi.spyOn(Date, 'now').mockReturnValue(0)
    try {
      let count = 0
      const next = () => {
        count += 1
        return count
      }
      expect(() => pathAccess.look(d, next, Object.is)).toThrow(errno('CONFLICT'))
      count = 0
      expect(pathAccess.look(d, next, () => true)).toBe(1)
      expect(count).toBe(25)
      const failing =
        (...codes: string[]) =>
        () => {
          const code = codes.length > 1 ? codes.shift()! : codes[0]!
          if (code !== '') throw Object.assign(new Error(code), { code })
          return code
        }
      expect(() => pathAccess.look(d, failing('ENOENT'), Object.is)).toThrow(errno('ENOENT'))
      expect(() => pathAccess.look(d, failing('ENOENT', 'ELOOP'), Object.is)).toThrow(errno('CONFLICT'))
      expect(() => pathAccess.look(d, failing('ENOENT', ''), Object.is)).toThrow(errno('CONFLICT'))
      expect(() => pathAccess.look(d, failing('', 'ENOENT'), Object.is)).toThrow(errno('CONFLICT'))
      expect(pathAccess.stat(d, pathAccess.at(d, 'b'))?.size).toBe(3)
    } finally {
      now.mockRestore()
    }
  })

  it('uses the spelling on disk only', () => {
    const { d } = opened(pathAccess)
    const path = pathAccess.at(d, 'b')
    const real = vi.spyOn(fs.realpathSync, 'native')
    onTestFinished(() => real.mockRestore())
    const before = countOpenFiles()
    real.mockReturnValue(join(root, 'd/B') as never)
    const denied = {
      code: 'PATH_DENIED',
      message: `"${join(root, 'd/b')}" is spelled "${join(root, 'd/B')}" on disk.`,
      fix: { hint: `Use the spelling on disk: ${join(root, 'd/B')}` },
    }
    expect(() => pathAccess.stat(d, path)).toThrow(expect.objectContaining(denied))
    expect(() => pathAccess.open(d, path, constants.O_RDONLY)).toThrow(expect.objectContaining(denied))
    expect(pathAccess.stat(d, pathAccess.at(d, 'l'))?.isSymbolicLink()).toBe(true)
    expect(pathAccess.stat(d, pathAccess.at(d, 'none'))).toBeUndefined()
    real.mockReturnValue(join(root, 'd/other') as never)
    expect(() => pathAccess.stat(d, path)).toThrow(errno('CONFLICT'))
    real.mockImplementation(() => {
      throw new Error('gone')
    })
    expect(pathAccess.stat(d, path)?.isFile()).toBe(true)
    expect(countOpenFiles()).toBe(before)
  })

  it.each<
    [
      'openSync' | 'renameSync' | 'linkSync' | 'mkdirSync',
      string,
      (d: number, entry: (name: string) => FolderEntry) => unknown,
    ]
  >([
    ['openSync', 'makes a file', (d) => pathAccess.open(d, pathAccess.at(d, 'new'), CREATE, 0o600)],
    ['openSync', 'opens a file', (d) => pathAccess.open(d, pathAccess.at(d, 'b'), constants.O_RDONLY)],
    ['openSync', 'opens a folder', (d) => pathAccess.openFolder(d, pathAccess.at(d, 'full'))],
    ['openSync', 'opens nothing', (d) => pathAccess.open(d, pathAccess.at(d, 'c'), constants.O_RDONLY)],
    ['renameSync', 'removes a file', (_, entry) => pathAccess.unlink(entry('b'))],
    ['renameSync', 'renames a file', (_, entry) => pathAccess.rename(entry('b'), entry('n'))],
    ['renameSync', 'removes a folder', (_, entry) => pathAccess.removeFolder(entry('empty'))],
    ['linkSync', 'links a file', (_, entry) => pathAccess.link(entry('b'), entry('n'))],
    ['mkdirSync', 'makes a folder', (_, entry) => pathAccess.makeFolder(entry('n'))],
  ])('leaves all as it is where somebody exchanges the folder right before %s: %s', (step, _, use) => {
    const { d, entry } = opened(pathAccess)
    const real = { openSync: fs.openSync, renameSync: fs.renameSync, linkSync: fs.linkSync, mkdirSync: fs.mkdirSync }
    const restore = () => {
      Object.assign(fs, real)
      syncBuiltinESMExports()
    }
    onTestFinished(restore)
    Object.assign(fs, {
      [step]: (...args: never[]) => {
        restore()
        renameSync(join(root, 'd'), join(root, 'away'))
        mkdirSync(join(root, 'd/empty'), { recursive: true })
        mkdirSync(join(root, 'd/full'))
        writeFileSync(join(root, 'd/b'), 'other')
        return (real[step] as (...all: never[]) => unknown)(...args)
      },
    })
    syncBuiltinESMExports()
    const before = countOpenFiles()
    expect(() => use(d, entry)).toThrow(errno('CONFLICT'))
    expect([names(), names('away')]).toEqual([['b', 'empty', 'full'], BEFORE])
    expect([text('d/b'), text('away/b')]).toEqual(['other', 'd/b'])
    expect(countOpenFiles()).toBe(before)
  })

  it('gives a file outside its name back, however long its folder is out of reach', () => {
    const { entry } = opened(pathAccess)
    mkdirSync(join(root, 'outside'))
    writeFileSync(join(root, 'outside/b'), 'other')
    const real = fs.renameSync
    const exchange = (back: string, to: string) => {
      real(join(root, 'd'), join(root, back))
      real(join(root, to), join(root, 'd'))
    }
    onTestFinished(() => {
      fs.renameSync = real
      syncBuiltinESMExports()
    })
    let calls = 0
    fs.renameSync = (from, to) => {
      calls += 1
      if (calls === 1 || calls === 10_100) exchange('away', 'outside')
      try {
        real(from, to)
      } finally {
        if (calls === 1) exchange('outside', 'away')
      }
    }
    syncBuiltinESMExports()
    expect(() => pathAccess.unlink(entry('b'))).toThrow(errno('CONFLICT'))
    expect([names(), text('d/b'), names('away')]).toEqual([['b'], 'other', BEFORE])
  })

  it('removes a file by its own name where nothing can be renamed', () => {
    const { entry } = opened(pathAccess)
    const rename = fs.renameSync
    onTestFinished(() => {
      fs.renameSync = rename
      syncBuiltinESMExports()
    })
    fs.renameSync = () => {
      throw Object.assign(new Error('EPERM'), { code: 'EPERM', syscall: 'rename' })
    }
    syncBuiltinESMExports()
    pathAccess.unlink(entry('b'))
    expect(names()).toEqual(['c', 'empty', 'full', 'l'])
    expect(() => pathAccess.unlink(entry('none'))).toThrow(errno('ENOENT'))
    expect(() => pathAccess.rename(entry('c'), entry('n'))).toThrow(errno('EPERM'))
    expect(() => pathAccess.makeFolder(entry('n'))).toThrow(errno('EPERM'))
    expect(names()).toEqual(['c', 'empty', 'full', 'l'])
  })

  it('knows only folders that were opened', () => {
    const { d } = opened(pathAccess)
    expect(() => pathAccess.at(-7, 'x')).toThrow(errno('SANDBOX_UNAVAILABLE'))
    const itself = closing(pathAccess.openFolder(d, pathAccess.at(d, '.')))
    expect(pathAccess.at(itself, 'x')).toBe(join(root, 'd/x'))
  })
})
