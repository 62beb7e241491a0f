import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { readEvents } from '../../../../runtime/src/records/log/read-events.ts'
import { runDemo } from '../commands/demo.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-test-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

it('closes its hub, and so its run, also when it fails half-way', async () => {
  const failing = runDemo({
    signal: new AbortController().signal,
    onCall: () => Promise.reject(new Error('nobody reads it')),
    approve: async () => ({ decision: 'allow' }),
  })
  await expect(failing).rejects.toThrow('nobody reads it')
  expect((await recorded()).at(-1)).toBe('run-closed')
})

it('ends immediately when it is stopped at its question, and closes', async () => {
  const stop = new AbortController()
  const seen: string[] = []
  const stopped = runDemo({
    signal: stop.signal,
    onCall: async ({ tool }) => void seen.push(tool),
    approve: () => {
      stop.abort()
      return new Promise(() => {})
    },
  })
  await expect(stopped).rejects.toThrow('aborted')
  expect(seen).toHaveLength(3)
  expect((await recorded()).at(-1)).toBe('run-closed')
})

it('continues after a denial, which the fourth call shows', async () => {
  const statuses: string[] = []
  await runDemo({
    signal: new AbortController().signal,
    onCall: async (_, { status }) => void statuses.push(status),
    approve: async () => ({ decision: 'deny', by: 'Nobody' }),
  })
  expect(statuses).toEqual(['ok', 'ok', 'ok', 'denied', 'denied'])
})

async function recorded(): Promise<string[]> {
  const runs = join(folder, readdirSync(folder)[0]!, 'runs')
  const types: string[] = []
  const run = readdirSync(runs, { withFileTypes: true }).find((entry) => entry.isDirectory())!
  for await (const { type } of readEvents(join(runs, run.name))) types.push(type)
  return types
}
