import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { outputFile } from '../../../../../test/support/output-file.ts'
import { KeptOutput } from './kept-output.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kept-output-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('kept output', () => {
  it('holds little in memory, in the order it came, and opens no file for it', async () => {
    const kept = new KeptOutput({
      bound: 20,
      keepOutput: () => {
        throw new Error('no file is needed')
      },
    })
    kept.take(Buffer.from('out 1\n'), 'stdout')
    kept.take(Buffer.from('err\n'), 'stderr')
    kept.take(Buffer.from('out 2\n'), 'stdout')
    expect(kept.output()).toEqual({
      stdout: 'out 1\nout 2\n',
      stderr: 'err\n',
      tail: 'out 1\nerr\nout 2\n',
      isCut: false,
    })
    expect(await kept.log({ offset: 2, limit: 1 })).toEqual({ text: 'err\n', from: 2, to: 2, totalLines: 3 })
    expect(await kept.artifact('x.log')).toBeUndefined()
  })

  it('writes all of it to a file once it is more than memory holds', async () => {
    const path = join(folder, 'more')
    const kept = new KeptOutput({ bound: 20, keepOutput: () => outputFile(path) })
    for (let line = 1; line <= 9; line += 1)
      await kept.take(Buffer.from(`line ${line}\n`), line % 3 === 0 ? 'stderr' : 'stdout')
    expect(kept.output()).toEqual({
      stdout: 'line 7\nline 8\n',
      stderr: 'line 6\nline 9\n',
      tail: 'line 8\nline 9\n',
      head: 'line 1\nline 2\nline ',
      isCut: true,
    })
    expect(await kept.log({ offset: 1, limit: 2 })).toMatchObject({ text: 'line 1\nline 2\n', totalLines: 9 })
    const artifact = await kept.artifact('a.log')
    expect(artifact).toMatchObject({ name: 'a.log', bytes: 63, mediaType: 'text/plain; charset=utf-8' })
    expect(await kept.artifact('a.log')).toBe(artifact)
    expect(await readFile(path, 'utf8')).toBe(Array.from({ length: 9 }, (_, index) => `line ${index + 1}\n`).join(''))
    await kept.discard()
    expect(await kept.log({ offset: 9 })).toMatchObject({ text: 'line 9\n' })
  })

  it('holds up to its bound in memory, and says what a file holds', async () => {
    let opened = 0
    const path = join(folder, 'exact')
    const keepOutput = () => {
      opened += 1
      return outputFile(path)
    }
    const kept = new KeptOutput({ bound: 4, keepOutput })
    await kept.take(Buffer.from('abcd'), 'stdout')
    expect([opened, kept.output().isCut, kept.hasTemporaryFile]).toEqual([0, false, false])
    await kept.take(Buffer.from('\0'), 'stdout')
    await kept.take(Buffer.from('e'), 'stderr')
    expect([opened, kept.output().isCut, kept.hasTemporaryFile]).toEqual([1, true, true])
    expect(await kept.artifact('a.bin')).toMatchObject({ mediaType: 'application/octet-stream', bytes: 6 })
    expect(kept.hasTemporaryFile).toBe(false)
  })

  it('holds 16000 characters of the beginning for who wants both ends', async () => {
    const headOf = (parts: readonly string[]) => {
      const kept = new KeptOutput({ bound: 60_000 })
      for (const part of parts) kept.take(Buffer.from(part), 'stdout')
      return kept.output().head
    }
    expect(headOf(['a'.repeat(15_999), 'bc', 'd'.repeat(60_000)]) === `${'a'.repeat(15_999)}b`).toBe(true)
    expect(headOf(['汉'.repeat(30_000)]) === '汉'.repeat(15_999)).toBe(true)
    // Half a character is not shown.
    expect(headOf([`a${'😀'.repeat(20_000)}`]) === `a${'😀'.repeat(7_999)}`).toBe(true)
  })

  it('removes a file that did not become an artifact', async () => {
    const path = join(folder, 'loose')
    const kept = new KeptOutput({ bound: 4, keepOutput: () => outputFile(path) })
    await kept.take(Buffer.from('more than four'), 'stdout')
    expect(kept.hasTemporaryFile).toBe(true)
    await kept.discard()
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(kept.artifact('a.log')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('numbers lines right where no file is kept and the first are gone', async () => {
    const kept = new KeptOutput({ bound: 20 })
    for (let line = 1; line <= 9; line += 1) kept.take(Buffer.from(`line ${line}\n`), 'stdout')
    expect(await kept.log({ offset: 1 })).toEqual({ text: 'line 8\nline 9\n', from: 8, to: 9, totalLines: 9 })
    expect(await kept.artifact('a.log')).toBeUndefined()
  })

  it('says why the file is missing when it could not be written, and keeps the tail', async () => {
    const failing = { ...outputFile(join(folder, 'full')), write: () => Promise.reject(new Error('disk full')) }
    const kept = new KeptOutput({ bound: 4, keepOutput: () => failing })
    await kept.take(Buffer.from('one\n'), 'stdout')
    await kept.take(Buffer.from('two\n'), 'stdout')
    await kept.take(Buffer.from('six\n'), 'stdout')
    expect(kept.output().tail).toBe('six\n')
    await expect(kept.artifact('a.log')).rejects.toThrow('disk full')
    await expect(kept.log()).rejects.toThrow('disk full')
    await kept.discard()
  })
})
