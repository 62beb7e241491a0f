import { appendFileSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bytesRead, reading } from '../../../../../test/support/reading.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

const read = (name: string, options?: { offset?: number; limit?: number }) => files.reader().readLines(name, options)

const cost = async (work: () => Promise<unknown>) => {
  const before = bytesRead()
  await work()
  return bytesRead() - before
}
const SIZE = 5_000_000
const text = `${'x'.repeat(49)}\n`.repeat(SIZE / 50)

/** A file whose last change lies so far back that a further one is sure to show. */
const putSettled = async (name: string) => {
  const path = files.put(name, text)
  while (Date.now() - statSync(path).ctimeMs < 150) await new Promise(setImmediate)
  return path
}

it('makes a later page cost the page only', async () => {
  await putSettled('log.txt')
  expect(await cost(() => read('log.txt', { offset: 50_000, limit: 50 }))).toBeGreaterThan(SIZE)
  for (const offset of [1, 70_000, 99_990]) {
    expect(await cost(() => read('log.txt', { offset, limit: 50 }))).toBeLessThan(250_000)
  }
})

it('is not used for a file that was changed, grew, was replaced or only touched', async () => {
  const path = await putSettled('log.txt')
  const changes = [
    () => appendFileSync(path, 'y'),
    () => writeFileSync(path, 'z\n', { flag: 'r+' }),
    () => truncateSync(path, SIZE - 1),
    () => utimesSync(path, 1, 1),
    () => rename(files.put('other.txt', `a\nb\n${text}`), path),
  ]
  for (const change of changes) {
    while (Date.now() - statSync(path).ctimeMs < 150) await new Promise(setImmediate)
    await read('log.txt', { offset: 50_000, limit: 50 })
    await change()
    const { size } = statSync(path)
    let page: unknown
    expect(await cost(async () => (page = await read('log.txt', { offset: 3, limit: 1 })))).toBeGreaterThan(size)
    const lines = readFileSync(path, 'utf8').split('\n')
    const totalLines = lines.at(-1) === '' ? lines.length - 1 : lines.length
    expect(page).toMatchObject({ totalLines, text: lines[2] })
  }
})

it('is not kept for a file that changed just before: the clock of files is coarse', async () => {
  const path = await putSettled('log.txt')
  do {
    writeFileSync(path, '\n', { flag: 'r+' })
    await read('log.txt')
    // On a busy machine the scan may begin too late to be in doubt.
  } while (Date.now() - statSync(path).ctimeMs > 100)
  expect(await cost(() => read('log.txt'))).toBeGreaterThan(SIZE)
})

it('tells when a file becomes shorter while it is scanned', async () => {
  const path = files.put('log.txt', text)
  const page = read('log.txt', { offset: 50_000 })
  truncateSync(path, 100_000)
  await expect(page).rejects.toThrow(expect.objectContaining({ code: 'CONFLICT', retryable: true }))
})
