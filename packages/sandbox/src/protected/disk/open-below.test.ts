import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { holdFolder, setAside, withOpened } from './open-below.ts'

let sandboxRoot: string

beforeEach(() => {
  sandboxRoot = realpathSync(mkdtempSync(join(tmpdir(), 'open-below-')))
  onTestFinished(() => rmSync(sandboxRoot, { recursive: true }))
  mkdirSync(join(sandboxRoot, 'a/b'), { recursive: true })
  writeFileSync(join(sandboxRoot, 'a/b/file'), '')
  symlinkSync('a', join(sandboxRoot, 'link'))
})

const isRoot = process.geteuid?.() === 0
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)
/** How many descriptors lead into the sandboxRoot. */
const held = () =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return realpathSync(`/proc/self/fd/${name}`).startsWith(sandboxRoot)
    } catch {
      // The descriptor by which they are listed, or a pipe.
      return false
    }
  }).length

describe('a folder below a sandboxRoot', () => {
  it.each([
    { below: '', names: ['a', 'link'] },
    { below: '/a', names: ['b'] },
    { below: '/a/b', names: ['file'] },
  ])('is held open until it is closed: "$below"', ({ below, names }) => {
    const folder = holdFolder(['/nowhere', sandboxRoot], sandboxRoot + below)!
    expect([readdirSync(folder.path).sort(), held()]).toEqual([names, 1])
    folder.close()
    expect(held()).toBe(0)
  })

  it.each(['/missing', '/a/missing/x', '/link', '/link/b', '/a/b/file', '/a/b/file/x', '-beside'])(
    'is not held where there is none, or none of its own: "%s"',
    (below) => {
      expect([holdFolder([sandboxRoot], sandboxRoot + below), held()]).toEqual([undefined, 0])
    },
  )
})

describe('a folder that its owner has closed', () => {
  it('is opened for the owner, with the rest of its mode as it was', () => {
    chmodSync(join(sandboxRoot, 'a/b'), 0o1055)
    expect(withOpened([sandboxRoot], join(sandboxRoot, 'a/b'), (path) => readdirSync(path))).toEqual(['file'])
    expect([modeOf(join(sandboxRoot, 'a/b')), held()]).toEqual(['1755', 0])
  })

  it('is let go also when the work fails', () => {
    const fail = () => {
      throw new Error('failed')
    }
    expect(() => withOpened([sandboxRoot], join(sandboxRoot, 'a'), fail)).toThrow('failed')
    expect(held()).toBe(0)
  })

  it('is not opened where a link has taken its place', () => {
    expect(withOpened([sandboxRoot], join(sandboxRoot, 'link'), () => 'done')).toBeUndefined()
  })

  // Commands of a hub that is sandboxRoot run as the owner of the workspace, who could open it.
  it.runIf(isRoot)('is opened by sandboxRoot for its owner alone', () => {
    chownSync(join(sandboxRoot, 'a'), 65_534, 65_534)
    chmodSync(join(sandboxRoot, 'a'), 0o055)
    expect(withOpened([sandboxRoot], join(sandboxRoot, 'a'), () => 'done')).toBe('done')
    expect([modeOf(join(sandboxRoot, 'a')), held()]).toEqual(['755', 0])
  })
})

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'set-aside-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'a'))
})

it('renames what is there within its folder, each time to another name', () => {
  const path = join(root, 'a/.mcp.json')
  const names = ['one', 'two'].map((text) => {
    writeFileSync(path, text)
    const done = setAside([root], path)
    expect(done).toEqual({ path, movedTo: expect.stringMatching(/\/a\/\.mcp\.json\.set-aside-[0-9a-f]{8}$/) })
    return readFileSync(done!.movedTo!, 'utf8')
  })
  expect([names, existsSync(path), readdirSync(join(root, 'a')).length]).toEqual([['one', 'two'], false, 2])
})

it('puts a link back that was there before', () => {
  const path = join(root, '.claude')
  mkdirSync(path)
  expect(setAside([root], path, { link: 'shared' })?.movedTo).toBeDefined()
  expect(readlinkSync(path)).toBe('shared')
})

it('has nothing to do where nothing is any more, or where the folder is another one', () => {
  expect(setAside([root], join(root, 'a/.mcp.json'))).toBeUndefined()
  expect(setAside([root], join(root, 'gone/.mcp.json'))).toBeUndefined()
  renameSync(join(root, 'a'), join(root, 'b'))
  symlinkSync('b', join(root, 'a'))
  writeFileSync(join(root, 'b/.mcp.json'), '')
  expect(setAside([root], join(root, 'a/.mcp.json'))).toBeUndefined()
  expect(existsSync(join(root, 'b/.mcp.json'))).toBe(true)
})

it('says why the link that was there cannot be put back', () => {
  const path = join(root, 'a', '.envrc')
  writeFileSync(path, '')
  expect(setAside([root], path, { link: 'x'.repeat(5_000) })).toEqual({
    path,
    problem: expect.stringContaining('ENAMETOOLONG'),
  })
})
