import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { bytesRead } from '../../../../../test/support/reading.ts'
import { createFilesGuard } from '../files-guard.ts'

const SIZE = 4_000_000
const text = `${'x'.repeat(49)}\n`.repeat(SIZE / 50)

/** Waits until a further change of a file is sure to show in its times. */
const settle = async (path: string) => {
  while (Date.now() - statSync(path).ctimeMs < 150) await new Promise(setImmediate)
}

it('lets an edit read a large file once', async () => {
  const { call, root } = fileHub({ 'a.txt': `${text}marker 0\n` }, {})
  await settle(`${root}/a.txt`)
  const before = bytesRead()
  const result = await call('core/fs.edit', { path: 'a.txt', oldText: 'marker 0', newText: 'marker 1' })
  expect(result).toMatchObject({ ok: true })
  expect(bytesRead() - before).toBeGreaterThan(SIZE)
  expect(bytesRead() - before).toBeLessThan(1.5 * SIZE)
})

it('does not replace reading a file that has changed, even with its old size and time', async () => {
  const { root } = fileHub({ 'a.txt': text }, {})
  const path = `${root}/a.txt`
  const guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 2 * SIZE })
  onTestFinished(() => guard.close())
  const signal = new AbortController().signal
  const files = guard.handle({ signal: () => signal, canRead: true, canWrite: true, canOverwrite: true })
  await settle(path)
  const { sha256 } = await files.readFile!('a.txt')
  const { atime, mtime } = statSync(path)
  writeFileSync(path, `y${text.slice(1)}`)
  utimesSync(path, atime, mtime)
  const write = () => files.writeText!('a.txt', 'new', { replaces: sha256 })
  await expect(write()).rejects.toMatchObject({ code: 'CONFLICT' })
  writeFileSync(path, text)
  await expect(write()).resolves.toMatchObject({ bytes: 3 })
})
