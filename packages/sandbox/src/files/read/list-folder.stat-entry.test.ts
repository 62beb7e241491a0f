import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { code, reading } from '../../../../../test/support/reading.ts'
import { isoTime } from './list-folder.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

it('tells what an entry is, over links that stay inside', async () => {
  await mkdir(join(files.root, 'folder'))
  await writeFile(join(files.root, 'folder/run.sh'), 'echo', { mode: 0o750 })
  await symlink('folder/run.sh', join(files.root, 'link'))
  execFileSync('mkfifo', [join(files.root, 'pipe')])
  const file = await files.reader().stat('link')
  expect(file).toMatchObject({ path: join(files.root, 'folder/run.sh'), type: 'file', bytes: 4, mode: 0o750 })
  expect(Math.abs(Date.parse(file.modified) - Date.now())).toBeLessThan(60_000)
  expect(await files.reader().stat('folder/')).toMatchObject({ path: join(files.root, 'folder'), type: 'directory' })
  expect(await files.reader().stat('.')).toMatchObject({ path: files.root, type: 'directory' })
  expect(await files.reader().stat('pipe')).toMatchObject({ type: 'other' })
})

it('says what is missing, outside, secret or misspelled', async () => {
  files.put('a.txt', '')
  files.put('server.key', 'SECRET')
  await symlink('/etc/passwd', join(files.root, 'out'))
  await symlink('nowhere', join(files.root, 'dangling'))
  for (const path of ['no', 'no/no', 'dangling'])
    await expect(files.reader().stat(path)).rejects.toThrow(code('NOT_FOUND'))
  await expect(files.reader().stat('out')).rejects.toThrow(code('PATH_OUTSIDE_SANDBOX'))
  await expect(files.reader().stat('server.key')).rejects.toThrow(code('PATH_DENIED'))
  await expect(files.reader().stat('a.txt/')).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
})

it('writes every time that a date can hold as a date would', () => {
  fc.assert(
    fc.property(fc.integer({ min: -8.64e15, max: 8.64e15 }), (time) => {
      expect(isoTime(time)).toBe(new Date(time).toISOString())
    }),
  )
})

it('cuts fractions, as a date does, before 1970 too, and holds on to the ends of time', () => {
  expect(isoTime(1_700_000_000_123.9)).toBe('2023-11-14T22:13:20.123Z')
  expect(isoTime(-0.5)).toBe('1969-12-31T23:59:59.999Z')
  expect(isoTime(1e300)).toBe('+275760-09-13T00:00:00.000Z')
})
