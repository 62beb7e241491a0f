import { execFileSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countOpenFiles } from '../../../../../test/support/left-behind.ts'
import { code, openDescriptors, reading } from '../../../../../test/support/reading.ts'

let files: ReturnType<typeof reading>

beforeEach(() => {
  files = reading()
})

afterEach(() => files.close())

const ways = ['readText', 'readFile', 'readBytes', 'readLines', 'sha256'] as const

it('never hangs on a pipe or a socket, and reads no folder', async () => {
  await mkdir(join(files.root, 'folder'))
  execFileSync('mkfifo', [join(files.root, 'pipe')])
  const server = createServer().listen(join(files.root, 'socket'))
  await new Promise((resolve) => server.once('listening', resolve))
  const before = countOpenFiles()
  for (const way of ways) {
    await expect(files.reader()[way]('pipe')).rejects.toThrow(code('PATH_DENIED'))
    await expect(files.reader()[way]('socket')).rejects.toThrow(code('PATH_DENIED'))
    await expect(files.reader()[way]('folder')).rejects.toThrow(
      expect.objectContaining({ code: 'INPUT_SCHEMA_INVALID', fix: { hint: expect.stringContaining('List') } }),
    )
  }
  expect(countOpenFiles()).toBe(before)
  await new Promise((resolve) => server.close(resolve))
})

it('asks before anything is given out, and tells about roots that are not trusted', async () => {
  files.close()
  files = reading({ untrusted: true })
  files.put('a.txt', 'text')
  for (const way of [...ways, 'stat'] as const) {
    const told: string[] = []
    const call = { permits: (path: string) => told.push(path), onUntrusted: () => told.push('untrusted') }
    await files.reader(call)[way]('a.txt')
    expect(told).toEqual([join(files.root, 'a.txt'), 'untrusted'])
    const permits = () => {
      throw new Error('not decided')
    }
    await expect(files.reader({ permits })[way]('a.txt')).rejects.toThrow('not decided')
  }
})

it('refuses names that are too long and secrets, and leaves no descriptor open', async () => {
  files.put('server.key', 'SECRET')
  files.put('a.txt', 'text')
  const before = countOpenFiles()
  for (const way of [...ways, 'stat', 'list'] as const) {
    await expect(files.reader()[way]('x'.repeat(256))).rejects.toThrow(code('INPUT_SCHEMA_INVALID'))
    await expect(files.reader()[way]('a.txt/b')).rejects.toThrow(code('NOT_FOUND'))
    await expect(files.reader({ signal: () => AbortSignal.abort() })[way]('a.txt')).rejects.toThrow(code('ABORTED'))
  }
  for (const way of ways) await expect(files.reader()[way]('server.key')).rejects.toThrow(code('PATH_DENIED'))
  expect(countOpenFiles()).toBe(before)
})

it('stops a long read between two pieces', async () => {
  files.put('a.txt', 'x'.repeat(3_000_000))
  const before = countOpenFiles()
  for (const way of ways) {
    const controller = new AbortController()
    const reading = files.reader({ signal: () => controller.signal })[way]('a.txt')
    controller.abort()
    await expect(reading).rejects.toThrow(code('ABORTED'))
  }
  expect(countOpenFiles()).toBe(before)
})

it('says so when the process has no descriptors left, and works again afterwards', async () => {
  await mkdir(join(files.root, 'p/q'), { recursive: true })
  files.put('p/q/a.txt', 'text')
  const limits = execFileSync('prlimit', [
    '--pid',
    `${process.pid}`,
    '--nofile',
    '--raw',
    '--noheadings',
    '-o',
    'SOFT,HARD',
  ])
  const [soft, hard] = limits.toString().trim().split(/\s+/)
  const setLimit = (most: string) => execFileSync('prlimit', ['--pid', `${process.pid}`, `--nofile=${most}:${hard}`])
  const held: number[] = []
  setLimit(`${openDescriptors() + 40}`)
  try {
    expect(() => {
      for (;;) held.push(openSync('/dev/null', 'r'))
    }).toThrow(code('EMFILE'))
    // From none to all that a walk of this depth needs.
    for (let free = 0; free < 3; free += 1) {
      const outcomes = await Promise.all(
        [...ways, 'stat', 'list'].map((way) => {
          const path = way === 'list' ? 'p/q' : 'p/q/a.txt'
          return files
            .reader()
            [way as 'stat'](path)
            .then(
              () => 'ok',
              (error) => `${error.code} ${error.message}`,
            )
        }),
      )
      for (const outcome of outcomes) expect(outcome).toMatch(/^ok$|^OUT_OF_RESOURCES .*too many files are open/)
      if (free === 0) expect(outcomes).not.toContain('ok')
      closeSync(held.pop()!)
    }
  } finally {
    for (const descriptor of held) closeSync(descriptor)
    setLimit(soft!)
  }
  expect(await files.reader().readText('p/q/a.txt')).toBe('text')
})
