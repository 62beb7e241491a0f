import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { code, reading } from '../../../../../test/support/reading.ts'
import { sha256 } from '../../../../core/src/lib/hash.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

it('hashes files of any length piece by piece and tells the run', async () => {
  for (const size of [0, 65_536, 65_537, 524_288, 5_000_000]) {
    const content = Buffer.alloc(size, 'abc')
    files.put('a.bin', content)
    const seen = new Map<string, string>()
    const hashed = { path: join(files.root, 'a.bin'), sha256: sha256(content), bytes: size }
    expect(await files.reader({ seen }).sha256('a.bin')).toEqual(hashed)
    expect(seen.size).toBe(0)
  }
})

it('refuses what would take for ever and stops in the middle', async () => {
  const path = files.put('huge.bin', '')
  await truncate(path, 2 ** 40)
  await expect(files.reader().sha256('huge.bin')).rejects.toThrow(/1099511627776 bytes, the limit is 4294967296/)
  await truncate(path, 2 ** 32)
  const controller = new AbortController()
  const before = countOpenFiles()
  const hashing = files.reader({ signal: () => controller.signal }).sha256('huge.bin')
  setImmediate(() => controller.abort())
  await expect(hashing).rejects.toThrow(code('ABORTED'))
  expect(countOpenFiles()).toBe(before)
})
