import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonLine } from '@tool-hub/core'
import { afterAll, describe, expect, it } from 'vitest'
import { UsageError } from '../exit.ts'
import { readJsonLines } from './json-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const never = new AbortController().signal

describe('readJsonLines', () => {
  it('gives the objects of a file with the numbers of their lines, and says what is wrong with others', async () => {
    const file = write('good.jsonl', '{"a":1}\n\n  \n[]\n{broken\n{"b":2}')
    expect(await collect(readJsonLines(file, never))).toEqual([
      { number: 1, value: { a: 1 } },
      { number: 4, problem: 'is not a JSON object' },
      { number: 5, problem: expect.stringContaining('is not JSON') },
      { number: 6, value: { b: 2 } },
    ])
  })

  it.each([
    ['a folder', folder, 'is a folder'],
    ['a file that is not there', join(folder, 'nowhere'), 'ENOENT'],
    // It can be opened, and the first read of it fails.
    ['a file that cannot be read', '/proc/self/mem', 'EIO'],
  ])('refuses %s as wrong usage, and leaves it closed', async (_, file, message) => {
    const failure = await collect(readJsonLines(file, never)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UsageError)
    expect((failure as Error).message).toContain(message)
    await expect.poll(() => openPaths()).not.toContain(file)
  })

  it('closes the file when its reader has enough, or is stopped', async () => {
    const file = write('many.jsonl', '{"a":1}\n'.repeat(100_000))
    for await (const { number } of readJsonLines(file, never)) if (number === 3) break
    await expect.poll(() => openPaths()).not.toContain(file)
    const stop = new AbortController()
    for await (const { number } of readJsonLines(file, stop.signal)) if (number === 3) stop.abort()
    await expect.poll(() => openPaths()).not.toContain(file)
  })
})

function write(name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function collect(lines: AsyncIterable<JsonLine>): Promise<JsonLine[]> {
  const all: JsonLine[] = []
  for await (const line of lines) all.push(line)
  return all
}

/** What this process has open. */
function openPaths(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      // The descriptor of the listing itself is gone by now.
      return []
    }
  })
}
