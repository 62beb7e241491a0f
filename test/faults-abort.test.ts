import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Hub } from '../packages/runtime/src/hub/hub.ts'
import { draftsBelow, openBelow } from './support/left-behind.ts'

const LONG = 'line\n'.repeat(60_000)
const TURNS = 30

let base: string
let root: string
let hub: Hub

beforeAll(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-abort-')))
  root = join(base, 'ws')
  hub = createToolHub({
    sandbox: { root },
    policy: [{ allow: 'write:fs' }, { allow: 'danger:destructive' }],
    runs: join(base, 'runs'),
    data: join(base, 'data'),
  })
})

afterAll(async () => {
  await hub.close()
  rmSync(base, { recursive: true, force: true })
})

/** The same folder before every call. The root itself stays: the hub holds it open. */
function refill(): void {
  mkdirSync(root, { recursive: true })
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true })
  mkdirSync(join(root, 'tree/deep'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), `old ${LONG}`)
  writeFileSync(join(root, 'b.txt'), `old ${LONG}`)
  for (let n = 0; n < 8; n += 1) writeFileSync(join(root, `tree/deep/${n}.txt`), 'old')
}

/** Every name, and the first word of every file. */
function state(): string {
  const names = readdirSync(root, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    return entry.isFile()
      ? `${path.slice(root.length)}: ${summary(readFileSync(path, 'utf8'))}`
      : path.slice(root.length)
  })
  return names.sort().join('\n')
}

const summary = (text: string) => `${text.slice(0, 4)} ${text.length}`

const PATCH = [
  '*** Begin Patch',
  '*** Update File: a.txt',
  '@@',
  '-old line',
  '+new line',
  '*** Add File: c.txt',
  '+new',
  '*** Delete File: b.txt',
  '*** End Patch',
].join('\n')

it.each<[string, string, unknown]>([
  ['replacing', 'core/fs.writeText', { path: 'a.txt', text: `new ${LONG}`, overwrite: true }],
  ['writing', 'core/fs.writeText', { path: 'new/deep/c.txt', text: `new ${LONG}` }],
  ['editing', 'core/fs.edit', { path: 'a.txt', edits: [{ oldText: 'old line', newText: 'new line' }] }],
  ['patching', 'core/fs.applyPatch', { input: PATCH }],
  ['deleting', 'core/fs.deletePath', { path: 'tree', recursive: true, confirm: true }],
  ['moving', 'core/fs.move', { from: 'tree', to: 'moved/tree' }],
  ['copying', 'core/fs.copy', { from: 'tree', to: 'copied' }],
  ['making a folder', 'core/fs.mkdir', { path: 'x/y/z' }],
])('%s, stopped at any stage, is done or not done, never half', async (_, tool, input) => {
  refill()
  const before = state()
  const whole = await hub.callDynamic(tool, input)
  expect(whole.ok, JSON.stringify(whole.error)).toBe(true)
  const after = state()
  const outcomes = new Set<string>()
  for (let turns = 0; turns < TURNS; turns += 1) {
    refill()
    const stop = new AbortController()
    const pending = hub.callDynamic(tool, input, { signal: stop.signal, run: `${turns}` })
    for (let turn = 0; turn < turns; turn += 1) await nextTurn()
    stop.abort()
    const result = await pending
    outcomes.add(result.status)
    expect(result.ok || result.error.code === 'ABORTED', JSON.stringify(result.error)).toBe(true)
    expect(withoutEmptyFolders(state()), `${result.status} after ${turns} turns`).toBeOneOf(
      (result.ok ? [after] : [before, after]).map(withoutEmptyFolders),
    )
    expect(draftsBelow(root)).toEqual([])
    expect(openBelow(root)).toEqual([])
    await hub.endRun(`${turns}`)
  }
  expect(outcomes).toContain('aborted')
})

/** A folder made on the way to a file that was not written may stay: somebody else may use it by now. */
function withoutEmptyFolders(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.includes(':') || !/^\/(new|moved|x)(\/|$)/.test(line))
    .join('\n')
}
