import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { code, reading } from '../../../../../test/support/reading.ts'

// The tests may run as root, whom no folder refuses; and a folder of millions of real files would take too long to make.
const refuse = vi.hoisted(() => ({ after: Number.POSITIVE_INFINITY, crowd: 0, read: 0 }))
vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  const readdirSync = (path: string, ...rest: never[]) => {
    if (!path.endsWith('/.')) return fs.readdirSync(path, ...rest)
    refuse.after -= 1
    if (refuse.after < 0) throw Object.assign(new Error('EACCES'), { code: 'EACCES', syscall: 'scandir' })
    return fs.readdirSync(path)
  }
  const fstatSync = (descriptor: number, ...rest: never[]) => {
    const stats = fs.fstatSync(descriptor, ...rest)
    if (refuse.crowd > 0 && stats.isDirectory()) stats.size = 10_000_000
    return stats
  }
  const opendirSync = (path: string, options: object) => {
    const folder = fs.opendirSync(path, options)
    const readSync = () => {
      refuse.read += 1
      return refuse.read <= refuse.crowd ? { name: `n${refuse.read}` } : null
    }
    return { readSync, closeSync: () => folder.closeSync() }
  }
  return { ...fs, readdirSync, fstatSync, opendirSync }
})

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
  files.put('a/b/x.txt', '')
  files.put('c/y.txt', '')
})

afterEach(() => {
  Object.assign(refuse, { after: Number.POSITIVE_INFINITY, crowd: 0, read: 0 })
  files.close()
})

it('leaves out a folder below that cannot be read, and says so', async () => {
  refuse.after = 1
  const before = countOpenFiles()
  const { entries, isComplete } = await files.reader().list('.', { recursive: true })
  expect(entries.map(({ name }) => name)).toEqual(['a', 'c'])
  expect(isComplete).toBe(false)
  expect(countOpenFiles()).toBe(before)
})

it('fails when the folder itself cannot be read', async () => {
  refuse.after = 0
  await expect(files.reader().list('.')).rejects.toThrow(code('PATH_DENIED'))
})

it('looks only at the beginning of a folder of millions', async () => {
  refuse.crowd = 10_000_000
  const { isComplete } = await files.reader().list('.', { maxEntries: 0 })
  expect(isComplete).toBe(false)
  expect(refuse.read).toBeLessThan(30_000)
})
