import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { setAside } from './set-aside.ts'

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
  expect(setAside([root], path, 'shared')?.movedTo).toBeDefined()
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
  expect(setAside([root], path, 'x'.repeat(5_000))).toEqual({ path, problem: expect.stringContaining('ENAMETOOLONG') })
})
