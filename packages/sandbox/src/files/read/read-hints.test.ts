import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { reading } from '../../../../../test/support/reading.ts'
import type { ReadFiles } from '../../../../core/src/handles.ts'
import { createFilesGuard } from '../files-guard.ts'
import { isoTime } from './list-folder.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading({ maxReadBytes: 100 })
})
afterEach(() => files.close())

const PART = 'Read a part of it (lines with offset and limit, or bytes)'
const said = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ code, message, fix }) => [code, message, fix?.hint],
  )

describe('a file that is too large', () => {
  it.each<[string, number | undefined, number | undefined, string]>([
    ['the owner', undefined, undefined, `${PART}, or have the owner raise limits.read.`],
    ['the caller', undefined, 50, `${PART}.`],
    ['the caller, who asked for all', undefined, 100, `${PART}, or have the owner raise limits.read.`],
    ['a rule', 60, undefined, `${PART}, or have the owner raise the size limit of the rule.`],
    ['a rule, as much as the owner', 100, undefined, `${PART}, or have the owner raise the size limit of the rule.`],
    ['the owner, less than a rule', 101, undefined, `${PART}, or have the owner raise limits.read.`],
    ['the caller, less than a rule', 60, 59, `${PART}.`],
    ['a rule, as much as the caller', 60, 60, `${PART}, or have the owner raise the size limit of the rule.`],
  ])('says who could raise the limit: of %s', async (_, ofRule, asked, hint) => {
    files.put('a', 'x'.repeat(101))
    const reader = files.reader({ maxBytes: ofRule })
    const [code, , advice] = (await said(reader.readFile('a', { maxBytes: asked }))) as string[]
    expect([code, advice]).toEqual(['FILE_TOO_LARGE', hint])
  })

  it('is one that has a byte more than is usual, unless more is asked for', async () => {
    const guard = createFilesGuard({
      roots: [{ path: files.root, mode: 'read' }],
      maxReadBytes: 100,
      usualReadBytes: 50,
    })
    const signal = new AbortController().signal
    const rights = { signal: () => signal, canRead: true, canWrite: false, canOverwrite: false }
    const handle = guard.handle(rights) as ReadFiles
    files.put('a', 'x'.repeat(51))
    files.put('b', 'x'.repeat(50))
    expect(await said(handle.readText('a'))).toMatchObject(['FILE_TOO_LARGE', expect.any(String), expect.any(String)])
    expect(await handle.readText('b')).toHaveLength(50)
    expect(await handle.readText('a', { maxBytes: 51 })).toHaveLength(51)
    expect((await handle.readBytes('a')).content).toHaveLength(50)
    expect((await handle.readBytes('a', { offset: 49 })).content).toHaveLength(2)
    guard.close()
  })
})

describe('what cannot be read', () => {
  beforeEach(() => {
    files.put('f', 'x')
    mkdirSync(join(files.root, 'd'))
    execFileSync('mkfifo', [join(files.root, 'pipe')])
    symlinkSync('f', join(files.root, 'l'))
  })

  it.each<[keyof ReadFiles & ('readText' | 'list' | 'stat'), string, string, string, string | undefined]>([
    ['readText', 'd', 'INPUT_SCHEMA_INVALID', '"d" is a folder, not a file.', 'List the folder instead'],
    ['readText', 'pipe', 'PATH_DENIED', '"pipe" is a pipe or a device, not a regular file.', undefined],
    [
      'readText',
      'f/',
      'INPUT_SCHEMA_INVALID',
      '"f/" is a file, but the path is spelled like a folder.',
      'Leave out the slash at the end.',
    ],
    ['list', 'f', 'INPUT_SCHEMA_INVALID', '"f" is a file, not a folder.', 'Read the file, or list the folder'],
    ['list', 'l', 'INPUT_SCHEMA_INVALID', 'is a file, not a folder.', 'Read the file, or list the folder'],
    [
      'stat',
      'f/',
      'INPUT_SCHEMA_INVALID',
      '"f/" is spelled like a folder, but is none.',
      'Leave out the slash at the end.',
    ],
  ])('%s of %s says why, and what to do', async (way, path, code, message, hint) => {
    const [thrown, text, advice] = (await said(files.reader()[way](path))) as string[]
    expect(thrown).toBe(code)
    expect(text).toContain(message)
    if (hint !== undefined) expect(advice).toContain(hint)
  })
})

describe('a listing', () => {
  it('goes down 64 levels at most', async () => {
    files.put(`${'d/'.repeat(65)}f`, '')
    const { entries, isComplete } = await files.reader().list('.', { recursive: true, maxDepth: 1_000 })
    expect([entries.length, isComplete]).toEqual([64, false])
  })

  it('goes down to the given depth, and is complete where nothing is below', async () => {
    files.put('a/b/f', '')
    const list = async (maxDepth: number) => {
      const { entries, isComplete } = await files.reader().list('.', { recursive: true, maxDepth })
      return [entries.length, isComplete]
    }
    expect([await list(1), await list(2), await list(3)]).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ])
  })
})

it.each([
  [0, '1970-01-01T00:00:00.000Z'],
  [-1, '1969-12-31T23:59:59.999Z'],
  [86_399_999, '1970-01-01T23:59:59.999Z'],
  [86_400_000, '1970-01-02T00:00:00.000Z'],
  [3_599_999, '1970-01-01T00:59:59.999Z'],
  [3_600_000, '1970-01-01T01:00:00.000Z'],
  [59_999, '1970-01-01T00:00:59.999Z'],
  [60_000, '1970-01-01T00:01:00.000Z'],
  [1_007, '1970-01-01T00:00:01.007Z'],
  [8.64e15, '+275760-09-13T00:00:00.000Z'],
  [8.64e15 + 1, '+275760-09-13T00:00:00.000Z'],
  [-8.64e15, '-271821-04-20T00:00:00.000Z'],
  [-1e300, '-271821-04-20T00:00:00.000Z'],
])('the time %j is %s', (time, text) => {
  expect(isoTime(time)).toBe(text)
})
