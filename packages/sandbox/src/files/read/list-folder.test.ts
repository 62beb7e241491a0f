import { execFileSync } from 'node:child_process'
import { linkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { code, reading } from '../../../../../test/support/reading.ts'
import type { ListOptions } from '../../../../core/src/handles.ts'
import { fileAccess } from '../access/choose-access.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

const list = (path: string, options?: ListOptions) => files.reader().list(path, options)
const names = async (path: string, options?: ListOptions) => (await list(path, options)).entries.map(({ name }) => name)

/** Many entries in `many`; links to one file are made quickly. */
const putMany = (count: number) => {
  const first = files.put('many/0000', '')
  for (let number = 1; number < count; number += 1)
    linkSync(first, join(files.root, 'many', String(number).padStart(4, '0')))
}

it('tells name, kind, size and time of what is in a folder, sorted', async () => {
  files.put('z.txt', 'four')
  files.put('a/b.txt', '')
  symlinkSync('/etc/passwd', join(files.root, 'link'))
  execFileSync('mkfifo', [join(files.root, 'pipe')])
  const { entries, isComplete, path } = await list('.')
  expect({ isComplete, path }).toEqual({ isComplete: true, path: files.root })
  expect(entries.map(({ name, type }) => `${name} ${type}`)).toEqual([
    'a directory',
    'link symlink',
    'pipe other',
    'z.txt file',
  ])
  const file = entries.at(-1)!
  expect(file).toEqual({ name: 'z.txt', type: 'file', size: 4, mtime: (await files.reader().stat('z.txt')).modified })
})

it('tells only name and kind when that is enough, and looks at no entry', async () => {
  files.put('z.txt', 'four')
  files.put('a/b.txt', '')
  files.put('.hidden', '')
  symlinkSync('/etc', join(files.root, 'link'))
  execFileSync('mkfifo', [join(files.root, 'pipe')])
  const whole = await list('.', { recursive: true })
  const looks = vi.spyOn(fileAccess, 'look')
  onTestFinished(() => looks.mockRestore())
  const { entries, isComplete } = await files.reader().list('.', { recursive: true, details: false })
  // One for each of the two folders.
  expect(looks).toHaveBeenCalledTimes(2)
  expect(entries).toEqual(whole.entries.map(({ name, type }) => ({ name, type })))
  expect(isComplete).toBe(true)
  files.put('\ufffd', '')
  expect(await files.reader().list('.', { details: false })).toMatchObject({ isComplete: true })
  writeFileSync(Buffer.concat([Buffer.from(`${files.root}/`), Buffer.from([0xff])]), '')
  const again = await files.reader().list('.', { recursive: true, details: false })
  expect(again).toMatchObject({ entries: [...entries, { name: '\ufffd', type: 'file' }], isComplete: false })
})

it('goes down to the given depth and says when something is left out', async () => {
  files.put('a/b/c/d.txt', '')
  files.put('a-b.txt', '')
  files.put('a/x.txt', '')
  expect(await list('.', {})).toMatchObject({ isComplete: true })
  expect(await names('.', { recursive: true })).toEqual(['a', 'a-b.txt', 'a/b', 'a/b/c', 'a/b/c/d.txt', 'a/x.txt'])
  expect(await list('.', { recursive: true })).toMatchObject({ isComplete: true })
  expect(await names('a', { recursive: true })).toEqual(['b', 'b/c', 'b/c/d.txt', 'x.txt'])
  const two = await list('.', { recursive: true, maxDepth: 2 })
  expect(two.entries.map(({ name }) => name)).toEqual(['a', 'a-b.txt', 'a/b', 'a/x.txt'])
  expect(two.isComplete).toBe(false)
  expect(await list('.', { recursive: true, maxDepth: 1 })).toMatchObject({ isComplete: false })
})

it('ends at the limit, near entries first', async () => {
  for (let number = 0; number < 30; number += 1) files.put(`a/${number}.txt`, '')
  files.put('z.txt', '')
  const { entries, isComplete } = await list('.', { recursive: true, maxEntries: 3 })
  expect(entries.map(({ name }) => name)).toEqual(['a', 'a/0.txt', 'z.txt'])
  expect(isComplete).toBe(false)
  expect(await list('.', { recursive: true, maxEntries: 32 })).toMatchObject({ isComplete: true })
  expect(await list('.', { maxEntries: 0 })).toMatchObject({ entries: [], isComplete: false })
})

it('lists 2,000 entries and ten levels by default', async () => {
  putMany(2_001)
  files.put(`${'d/'.repeat(11)}deep.txt`, '')
  const many = await list('many')
  expect(many.entries).toHaveLength(2_000)
  expect(many.entries.at(-1)?.name).toBe('1999')
  expect(many.isComplete).toBe(false)
  const deep = await list('d', { recursive: true })
  expect([deep.entries.length, deep.isComplete]).toEqual([10, false])
  const all = await list('d', { recursive: true, maxDepth: 1_000 })
  expect([all.entries.length, all.isComplete]).toEqual([11, true])
})

it('leaves out hidden names by default, and names secrets without entering secret folders', async () => {
  for (const name of ['.env', '.hidden/x', '.ssh/id', 'server.key']) files.put(name, 'SECRET')
  expect(await list('.', { recursive: true })).toMatchObject({ entries: [{ name: 'server.key' }], isComplete: true })
  const all = await list('.', { recursive: true, includeHidden: true })
  expect(all.entries.map(({ name }) => name)).toEqual(['.env', '.hidden', '.hidden/x', '.ssh', 'server.key'])
  expect(all.isComplete).toBe(false)
  await expect(list('.ssh')).rejects.toThrow(code('PATH_DENIED'))
})

it('never enters a link below, and follows one to the folder only where it stays inside', async () => {
  files.put('a/x.txt', '')
  symlinkSync('a', join(files.root, 'inside'))
  symlinkSync('..', join(files.root, 'a/up'))
  symlinkSync('/etc', join(files.root, 'outside'))
  expect(await names('.', { recursive: true })).toEqual(['a', 'a/up', 'a/x.txt', 'inside', 'outside'])
  expect(await list('inside')).toMatchObject({
    path: join(files.root, 'a'),
    entries: [{ name: 'up' }, { name: 'x.txt' }],
  })
  await expect(list('outside')).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
  await expect(list('../')).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
})

it('asks for the folder that was really opened and for those below, and leaves out what is denied', async () => {
  files.put('a/b/x.txt', '')
  symlinkSync('a', join(files.root, 'l'))
  const asked: string[] = []
  await files.reader({ permits: (path, access) => asked.push(`${access} ${path}`) }).list('l', { recursive: true })
  expect(asked).toEqual([`read ${join(files.root, 'a')}`, `read ${join(files.root, 'a/b')}`])
  const permits = (path: string) => {
    if (path.endsWith('/b')) throw new ToolError('POLICY_DENIED', 'no')
  }
  const { entries, isComplete } = await files.reader({ permits }).list('a', { recursive: true })
  expect({ names: entries.map(({ name }) => name), isComplete }).toEqual({ names: ['b'], isComplete: false })
})

it('says what is missing or no folder, and refuses numbers that make no sense', async () => {
  files.put('a.txt', '')
  const before = countOpenFiles()
  for (const path of ['no', 'no/no', 'a.txt/no']) await expect(list(path)).rejects.toThrow(code('NOT_FOUND'))
  for (const path of ['a.txt', 'a.txt/']) await expect(list(path)).rejects.toThrow(/is a file, not a folder/)
  for (const options of [{ maxEntries: -1 }, { maxDepth: 0 }, { maxEntries: Number.NaN }]) {
    await expect(list('.', options)).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
  }
  expect(countOpenFiles()).toBe(before)
})

it('lists names of any kind and says that it leaves out what cannot be said in UTF-8', async () => {
  const odd = ['-rf', ' ', '*', 'a\nb', 'é'.repeat(127), '\ufffd', 'constructor']
  for (const name of odd) files.put(name, '')
  expect((await names('.')).toSorted()).toEqual(odd.toSorted())
  expect(await list('.')).toMatchObject({ isComplete: true })
  writeFileSync(Buffer.concat([Buffer.from(`${files.root}/`), Buffer.from([0xff])]), '')
  const listing = await list('.')
  expect(listing.entries).toHaveLength(odd.length)
  expect(listing.isComplete).toBe(false)
})

it('lets others have their turn and stops in the middle', async () => {
  putMany(6_000)
  const before = countOpenFiles()
  const controller = new AbortController()
  let turns = 0
  const count = () => {
    turns += 1
    if (turns === 2) controller.abort()
    else if (turns < 2) setImmediate(count)
  }
  setImmediate(count)
  const listing = files.reader({ signal: () => controller.signal }).list('many', { maxEntries: 10_000 })
  await expect(listing).rejects.toThrow(code('ABORTED'))
  expect(turns).toBe(2)
  expect(countOpenFiles()).toBe(before)
})
