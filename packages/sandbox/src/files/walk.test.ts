import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FILES_LEVEL } from '../../../../test/support/files-level.ts'
import type { ReadFiles, WriteFiles } from '../../../core/src/handles.ts'
import { isDraftName } from './access/steady-changes.ts'
import { createFilesGuard, type FilesGuard } from './files-guard.ts'

// Exchanges a folder and a link to the outside as fast as it can, clearing away what a write made in the gap.
const SWAPPER = `
const { renameSync, rmSync } = require('node:fs')
const { parentPort, workerData: [folder, link, spare] } = require('node:worker_threads')
const attempt = (act) => { try { act(); return true } catch { return false } }
const move = (from, to) => {
  while (!attempt(() => renameSync(from, to))) attempt(() => rmSync(to, { recursive: true, force: true }))
}
parentPort.postMessage('started')
for (;;) {
  move(folder, spare); move(link, folder)
  move(folder, link); move(spare, folder)
}`

/** Without descriptors, what was exchanged meanwhile is refused. */
const REFUSED = ['NOT_FOUND', 'PATH_OUTSIDE_SANDBOX', ...(FILES_LEVEL === 'paths' ? ['CONFLICT'] : [])]

let base: string
let guard: FilesGuard
let swapper: Worker

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'walk-'))
  const root = join(base, 'ws')
  await mkdir(join(root, 'd'), { recursive: true })
  await mkdir(join(base, 'out'))
  await writeFile(join(root, 'd/f.txt'), 'in')
  await writeFile(join(base, 'out/f.txt'), 'SECRET')
  await symlink(join(base, 'out'), join(root, 'l'))
  guard = createFilesGuard({ roots: [{ path: root, mode: 'write' }], maxReadBytes: 1000 })
  swapper = new Worker(SWAPPER, { eval: true, workerData: ['d', 'l', 'spare'].map((name) => join(root, name)) })
  await new Promise((resolve) => swapper.once('message', resolve))
})

afterEach(async () => {
  await swapper.terminate()
  guard.close()
  await rm(base, { recursive: true })
})

/** An empty draft that was made outside and could not be removed: the level `paths` does not rule it out. */
const isStray = (name: string) => FILES_LEVEL === 'paths' && isDraftName(name)

/** How often something inside is found depends on the machine; once is enough to show that the way is open. */
const needsMore = (attempt: number, tries: number, isFound: boolean) =>
  attempt < tries || (!isFound && attempt < 100_000)

const never = new AbortController().signal
const handle = () =>
  guard.handle({ signal: () => never, canRead: true, canWrite: true, canOverwrite: true }) as ReadFiles & WriteFiles

it('reads nothing outside while somebody swaps a folder for a link', async () => {
  const seen = new Map<string, number>()
  for (let attempt = 0; needsMore(attempt, 5_000, seen.has('in')); attempt += 1) {
    const outcome = await handle()
      .readText('d/f.txt')
      .catch((error) => error.code)
    seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  }
  expect([...seen.keys()].filter((outcome) => !['in', ...REFUSED].includes(outcome))).toEqual([])
  expect(seen.keys()).toContain('in')
})

it('lists and looks at nothing outside while somebody swaps a folder for a link', async () => {
  const inside = 'f.txt 2'
  const list = async () => {
    const { entries } = await handle().list('.', { recursive: true })
    const below = entries.filter(({ name }) => name.includes('/'))
    return below.map(({ name, size }) => `${name.slice(name.indexOf('/') + 1)} ${size}`)
  }
  const look = async () => [`f.txt ${(await handle().stat('d/f.txt')).bytes}`]
  const seen = new Set<string>()
  for (let attempt = 0; needsMore(attempt, 2_000, seen.has(inside)); attempt += 1) {
    for (const found of await (attempt % 2 ? list() : look()).catch((error) => [error.code])) seen.add(found)
  }
  expect([...seen].filter((found) => ![inside, ...REFUSED].includes(found))).toEqual([])
  expect(seen).toContain(inside)
})

it('changes nothing outside while somebody swaps a folder for a link', async () => {
  const outcomes = new Set<string>()
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const path = attempt % 2 ? 'd/f.txt' : `d/new${attempt}/w.txt`
    outcomes.add(
      await handle()
        .writeText(path, 'x', { overwrite: true })
        .then(
          () => 'ok',
          (error) => error.code,
        ),
    )
  }
  expect((await readdir(join(base, 'out'))).filter((name) => !isStray(name))).toEqual(['f.txt'])
  expect(await readFile(join(base, 'out/f.txt'), 'utf8')).toBe('SECRET')
  expect(outcomes).not.toContain(undefined)
})
