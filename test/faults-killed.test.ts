import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { draftsBelow } from './support/left-behind.ts'
import { bundleModule } from './support/run-module.ts'

// Hubs are killed dozens of times, one after the other.
vi.setConfig({ testTimeout: 600_000 })

const KILLS = 20
const FILLER = 'filler\n'.repeat(20_000)

let base: string
let root: string
let server: Server

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-killed-')))
  root = join(base, 'ws')
  mkdirSync(root)
  writeFileSync(join(root, 'written.txt'), 'before')
  writeFileSync(join(root, 'loaded.txt'), 'before')
  writeFileSync(join(root, 'edited.txt'), `head 0\n${FILLER}tail 0\n`)
  server = createServer((request, response) => {
    const digit = (request.url ?? '').slice(-1)
    // In pieces, so that a kill falls in the middle of some.
    for (let piece = 0; piece < 20; piece += 1) response.write(digit.repeat(10_000))
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(() => {
  server.closeAllConnections()
  server.close()
  rmSync(base, { recursive: true, force: true })
})

it('kill -9 during write, edit and download leaves old or new files, a good journal, and undo works', async () => {
  const script = await bundleModule('test/support/tools-until-killed.ts')
  for (let round = 0; round < KILLS; round += 1) {
    const rounds = await killAfter(script, round, 5 + round * 7)
    expect(rounds.length).toBeGreaterThan(0)
    expect(rounds, 'each call works while nobody kills it').toEqual(rounds.map(() => ''))
    expectWholeFiles()
  }

  const hub = createToolHub({
    sandbox: { root },
    policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }],
    runs: join(base, 'runs'),
    data: join(base, 'data'),
    run: 'victim',
  })
  // The next start recovers the run and sweeps what the killed ones left; the first change is after both.
  expect(await hub.callDynamic('core/fs.writeText', { path: 'last.txt', text: 'x' })).toMatchObject({ ok: true })
  expectWholeFiles()
  expect(draftsBelow(root)).toEqual([])
  const report = await hub.undo({ run: 'victim' })
  expect(report.changes.filter(({ action }) => action === 'refused')).toEqual([])
  expect(readFileSync(join(root, 'written.txt'), 'utf8')).toBe('before')
  expect(readFileSync(join(root, 'loaded.txt'), 'utf8')).toBe('before')
  expect(readFileSync(join(root, 'edited.txt'), 'utf8')).toBe(`head 0\n${FILLER}tail 0\n`)
  await hub.close()
  const verified = await verifyRun(join(base, 'runs', 'victim'))
  expect(verified).toMatchObject({ ok: true, problems: [] })
  // Some kills fell into changes, not between them.
  expect(verified.interrupted).toBeGreaterThan(0)
})

/** Runs the script until it has made its first round and some milliseconds more; returns its output. */
async function killAfter(script: string, round: number, ms: number): Promise<string[]> {
  const { port } = server.address() as AddressInfo
  const words = [script, base, `http://127.0.0.1:${port}/`, String(round * 100)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const said: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (said.length === 1) setTimeout(() => child.kill('SIGKILL'), ms)
  }
  return said
}

/** Each file is what some call wrote, from its first byte to its last. */
function expectWholeFiles(): void {
  const [written, loaded, edited] = ['written.txt', 'loaded.txt', 'edited.txt'].map((name) =>
    readFileSync(join(root, name), 'utf8'),
  ) as [string, string, string]
  for (const text of [written, loaded]) expect(text === text[0]?.repeat(200_000) || text === 'before').toBe(true)
  const [, head, filler, tail] = /^head (\d+)\n((?:filler\n)*)tail (\d+)\n$/.exec(edited) ?? []
  expect({ tail, isWhole: filler === FILLER }).toEqual({ tail: head, isWhole: true })
}
