import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { appendValue, readValues } from './run-archives.ts'

let folder: string
let path: string
beforeEach(() => {
  folder = temporaryFolder('archive')
  path = join(folder, 'notes.jsonl')
})

const note = z.object({ n: z.number() })
const content = () => readFileSync(path, 'utf8')

describe('an archive', () => {
  it('has one line a value, in a file that only its owner can read', async () => {
    await appendValue(path, { n: 1 })
    await appendValue(path, { n: 2 })
    expect(content()).toBe('{"n":1}\n{"n":2}\n')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await readValues(path, note)).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('ends a line that a crash has torn, and passes over what does not fit', async () => {
    writeFileSync(path, '{"n":1}\n{"n":"2"}\n{"n":3', { mode: 0o600 })
    await appendValue(path, { n: 4 })
    expect(content()).toBe('{"n":1}\n{"n":"2"}\n{"n":3\n{"n":4}\n')
    expect(await readValues(path, note)).toEqual([{ n: 1 }, { n: 4 }])
  })

  it('has no values where there is none', async () => {
    expect(await readValues(path, note)).toEqual([])
    writeFileSync(path, '')
    expect(await readValues(join(path, 'below-a-file'), note)).toEqual([])
  })

  it('holds at most 64 MB', async () => {
    writeFileSync(path, '{"n":1}\n', { mode: 0o600 })
    truncateSync(path, 64_000_000)
    expect(await readValues(path, note)).toEqual([{ n: 1 }])
    await appendValue(path, { n: 2 })
    const refused = {
      code: 'BUDGET_EXCEEDED',
      message: expect.stringMatching(/notes\.jsonl has 64000009 bytes; an archive holds at most 64000000\.$/),
      fix: { hint: 'Use another run.' },
      details: { path },
    }
    await expect(readValues(path, note)).rejects.toMatchObject(refused)
    await expect(appendValue(path, { n: 3 })).rejects.toMatchObject(refused)
    expect(statSync(path).size).toBe(64_000_009)
  })

  it.each<[string, () => void, RegExp]>([
    ['a link', () => symlinkSync(join(folder, 'other'), path), /the folder cannot be used \(ELOOP\)/],
    ['a file with a second name', () => linkSync(join(folder, 'other'), path), /is a link, or has several names/],
    ['a pipe', () => execFileSync('mkfifo', ['-m', '600', path]), /is a link, or has several names/],
    ['a file that others may write', () => chmodSync(join(folder, 'notes.jsonl'), 0o666), /by other users/],
    ['a folder that others may write', () => chmodSync(folder, 0o777), /by other users/],
  ])('is not written to %s', async (name, prepare, message) => {
    writeFileSync(join(folder, name.endsWith('write') ? 'notes.jsonl' : 'other'), 'kept\n', { mode: 0o600 })
    prepare()
    await expect(appendValue(path, { n: 1 })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
      details: expect.objectContaining({ path: expect.stringContaining(folder) }),
    })
    chmodSync(folder, 0o700)
    if (!name.endsWith('pipe')) expect(readFileSync(path, 'utf8')).toBe('kept\n')
  })

  it('says how to go on when it is shared or cannot be read', async () => {
    writeFileSync(join(folder, 'other'), '', { mode: 0o600 })
    linkSync(join(folder, 'other'), path)
    await expect(appendValue(path, {})).rejects.toMatchObject({
      fix: { hint: 'Look who made it and why; then remove it.' },
    })
    mkdirSync(join(folder, 'folder.jsonl'))
    await expect(readValues(join(folder, 'folder.jsonl'), note)).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
    const tooLong = join(folder, 'x'.repeat(300))
    await expect(readValues(tooLong, note)).rejects.toThrow('An archive cannot be read: the folder cannot be used')
    await expect(appendValue(tooLong, {})).rejects.toThrow('The archive cannot be written: the folder cannot be used')
  })
})
