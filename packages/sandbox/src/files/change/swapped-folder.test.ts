import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { changing, outcome } from '../../../../../test/support/changing.ts'
import { FILES_LEVEL } from '../../../../../test/support/files-level.ts'
import { isDraftName } from '../access/steady-changes.ts'

// Exchanges a folder and a link to the outside as fast as it can, clearing away what a change made in the gap.
const SWAPPER = `
const { mkdirSync, renameSync, rmSync, writeFileSync } = require('node:fs')
const { parentPort, workerData: [folder, link, spare] } = require('node:worker_threads')
const attempt = (act) => { try { act(); return true } catch { return false } }
const move = (from, to) => {
  while (!attempt(() => renameSync(from, to))) attempt(() => rmSync(to, { recursive: true, force: true }))
}
parentPort.postMessage('started')
for (;;) {
  move(folder, spare); move(link, folder)
  move(folder, link); move(spare, folder)
  // Here it is the folder again: something to remove, move and copy.
  attempt(() => writeFileSync(folder + '/secret.txt', 'inside', { flag: 'wx' }))
  attempt(() => mkdirSync(folder + '/sub'))
}`

const EXPECTED = new Set(['ok', 'NOT_FOUND', 'PATH_OUTSIDE_SANDBOX', 'CONFLICT', 'PATH_DENIED'])

let ws: ReturnType<typeof changing>
let swapper: Worker

beforeEach(async () => {
  ws = changing()
  mkdirSync(ws.at('d'))
  mkdirSync(join(ws.base, 'out/sub'))
  symlinkSync(join(ws.base, 'out'), ws.at('l'))
  const workerData = ['d', 'l', 'spare'].map(ws.at)
  swapper = new Worker(SWAPPER, { eval: true, workerData })
  await new Promise((resolve) => swapper.once('message', resolve))
})
afterEach(async () => {
  await swapper.terminate()
  ws.close()
})

/** An empty draft that was made outside and could not be removed: the level `paths` does not rule it out. */
const isStray = (name: string) => FILES_LEVEL === 'paths' && isDraftName(name)

type Handle = ReturnType<typeof ws.handle>

it.each<[string, number, (handle: Handle, index: number) => Promise<unknown>]>([
  ['writes', 500, (handle) => handle.writeText('d/secret.txt', 'x', { overwrite: true })],
  ['writes anew', 200, (handle, index) => handle.writeText(`d/new${index}/w.txt`, 'x')],
  ['removes', 600, (handle, index) => handle.remove(index % 2 ? 'd/secret.txt' : 'd/sub', { recursive: true })],
  ['moves out', 400, (handle, index) => handle.move('d/secret.txt', `taken${index}.txt`)],
  ['moves in', 400, (handle, index) => handle.move('mine.txt', `d/mine${index}.txt`)],
  ['makes', 600, (handle, index) => handle.makeFolder(`d/p${index}/q`)],
  ['copies', 150, (handle, index) => handle.copy('d/secret.txt', `copied${index}.txt`)],
  ['changes', 150, (handle, index) => handle.changeAll([{ type: 'create', path: `d/c${index}.txt`, content: 'x' }])],
])('%s nothing outside in %i tries while somebody swaps a folder for a link', async (_, tries, change) => {
  // At the level paths, nearly every change is refused against a swapper that never pauses.
  const [least, refusals] =
    FILES_LEVEL === 'paths' ? [0, ['PATH_OUTSIDE_SANDBOX', 'CONFLICT']] : [1, ['PATH_OUTSIDE_SANDBOX']]
  const handle = ws.handle({ journal: undefined })
  const outcomes = new Map<string, number>()
  const isTried = () => (outcomes.get('ok') ?? 0) >= least && refusals.some((code) => outcomes.has(code))
  // How often each of them comes depends on the machine.
  for (let index = 0; index < tries || (!isTried() && index < 20 * tries); index += 1) {
    if (!existsSync(ws.at('mine.txt'))) writeFileSync(ws.at('mine.txt'), 'mine')
    const result = await outcome(change(handle, index))
    outcomes.set(result, (outcomes.get(result) ?? 0) + 1)
  }
  await swapper.terminate()
  expect([...outcomes.keys()].filter((result) => !EXPECTED.has(result))).toEqual([])
  expect(isTried(), JSON.stringify([...outcomes])).toBe(true)
  const taken = ws.names().filter((name) => /^(taken|copied)/.test(name))
  expect(taken.map(ws.text)).not.toContain('SECRET')
  expect(ws.names('../out').filter((name) => !isStray(name))).toEqual(['secret.txt', 'sub'])
  expect(ws.outsideText()).toBe('SECRET')
})
