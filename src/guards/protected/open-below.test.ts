import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { holdFolder, withOpened } from './open-below.ts'

let root: string

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'open-below-')))
  onTestFinished(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'a/b'), { recursive: true })
  writeFileSync(join(root, 'a/b/file'), '')
  symlinkSync('a', join(root, 'link'))
})

const isRoot = process.geteuid?.() === 0
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)
/** How many descriptors lead into the root. */
const held = () =>
  readdirSync('/proc/self/fd').filter((name) => {
    try {
      return realpathSync(`/proc/self/fd/${name}`).startsWith(root)
    } catch {
      // The descriptor by which they are listed, or a pipe.
      return false
    }
  }).length

describe('a folder below a root', () => {
  it.each([
    { below: '', names: ['a', 'link'] },
    { below: '/a', names: ['b'] },
    { below: '/a/b', names: ['file'] },
  ])('is held open until it is closed: "$below"', ({ below, names }) => {
    const folder = holdFolder(['/nowhere', root], root + below)!
    expect([readdirSync(folder.path).sort(), held()]).toEqual([names, 1])
    folder.close()
    expect(held()).toBe(0)
  })

  it.each(['/missing', '/a/missing/x', '/link', '/link/b', '/a/b/file', '/a/b/file/x', '-beside'])(
    'is not held where there is none, or none of its own: "%s"',
    (below) => {
      expect([holdFolder([root], root + below), held()]).toEqual([undefined, 0])
    },
  )
})

describe('a folder that its owner has closed', () => {
  it('is opened for the owner, with the rest of its mode as it was', () => {
    chmodSync(join(root, 'a/b'), 0o1055)
    expect(withOpened([root], join(root, 'a/b'), (path) => readdirSync(path))).toEqual(['file'])
    expect([modeOf(join(root, 'a/b')), held()]).toEqual(['1755', 0])
  })

  it('is let go also when the work fails', () => {
    const fail = () => {
      throw new Error('failed')
    }
    expect(() => withOpened([root], join(root, 'a'), fail)).toThrow('failed')
    expect(held()).toBe(0)
  })

  it('is not opened where a link has taken its place', () => {
    expect(withOpened([root], join(root, 'link'), () => 'done')).toBeUndefined()
  })

  // Commands of a hub that is root run as the owner of the workspace, who could open it.
  it.runIf(isRoot)('is opened by root for its owner alone', () => {
    chownSync(join(root, 'a'), 65_534, 65_534)
    chmodSync(join(root, 'a'), 0o055)
    expect(withOpened([root], join(root, 'a'), () => 'done')).toBe('done')
    expect([modeOf(join(root, 'a')), held()]).toEqual(['755', 0])
  })
})
