import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { RecordEvent } from '../packages/runtime/src/records/log/events.ts'
import { readEvents } from '../packages/runtime/src/records/log/read-events.ts'
import { draftsBelow } from './support/left-behind.ts'
import { bundleModule } from './support/run-module.ts'

const NOBODY = 65_534
const OTHER_DISK = '/dev/shm'
const isRoot = process.getuid?.() === 0

let module: string
let base: string
let root: string
let children: ChildProcess[]
const folders: string[] = []

beforeAll(async () => {
  module = await bundleModule('test/support/hub-process.ts')
  // Others may run it, too.
  chmodSync(dirname(module), 0o755)
})

beforeEach(() => {
  base = newFolder(tmpdir())
  root = join(base, 'ws')
  mkdirSync(root)
  children = []
})

afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newFolder(above: string): string {
  const folder = realpathSync(mkdtempSync(join(above, 'undo-processes-')))
  folders.push(folder)
  return folder
}

const options = (more: object = {}) => ({
  sandbox: { root },
  runs: join(base, 'runs'),
  data: join(base, 'data'),
  policy: [{ allow: 'write:fs' as const }, { allow: 'danger:destructive' as const }],
  ...more,
})

/** A hub in another process; `tell` resolves with its answer, or with undefined when it ends before. */
function start(more: object, uid?: number) {
  const child = spawn(process.execPath, [module, JSON.stringify(options(more))], {
    stdio: ['pipe', 'pipe', 'inherit'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  children.push(child)
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    async tell(line: object) {
      child.stdin.write(`${JSON.stringify(line)}\n`)
      const { value } = await answers.next()
      return value === undefined ? undefined : JSON.parse(value)
    },
  }
}

const texts = (...names: string[]) => names.map((name) => readFileSync(join(root, name), 'utf8'))

async function eventsOf(run: string): Promise<RecordEvent[]> {
  const events: RecordEvent[] = []
  for await (const event of readEvents(join(base, 'runs', run))) events.push(event)
  return events
}

it('takes back what a hub changed that still runs, and that hub continues', async () => {
  writeFileSync(join(root, 'a.txt'), 'old')
  const { tell } = start({ run: 'theirs' })
  const input = { path: 'a.txt', text: 'new', overwrite: true }
  const { callId } = await tell({ tool: 'core/fs.writeText', input })
  expect(await tell({ tool: 'core/fs.writeText', input: { path: 'sub/n.txt', text: 'n' } })).toMatchObject({ ok: true })
  const hub = createToolHub(options({ run: 'mine' }))
  expect(await hub.undo({ anyRun: true })).toMatchObject({ ok: true, run: 'mine', calls: [{ run: 'theirs' }] })
  expect(await hub.undo({ call: callId })).toMatchObject({ ok: true, changes: [{ action: 'restored' }] })
  expect(readdirSync(root)).toEqual(['a.txt'])
  expect(texts('a.txt')).toEqual(['old'])
  expect(await tell({ tool: 'core/fs.writeText', input })).toMatchObject({ ok: true })
  expect(texts('a.txt')).toEqual(['new'])
  expect(await tell({ undo: {} })).toMatchObject({ ok: true, changes: [{ action: 'restored' }] })
  expect(texts('a.txt')).toEqual(['old'])
  await hub.close()
})

it.each(['/a.txt', '/b.txt'])(
  'brings all files of a patch back after kill -9 right after %s had got its name',
  async (name) => {
    for (const letter of ['a', 'b', 'c']) writeFileSync(join(root, `${letter}.txt`), `${letter}\n`)
    const { child, tell } = start({ run: 'victim', dieAfterRename: name })
    const updates = ['a', 'b', 'c'].map((letter) => `*** Update File: ${letter}.txt\n@@\n-${letter}\n+NEW\n`).join('')
    const exited = once(child, 'exit')
    expect(
      await tell({ tool: 'core/fs.applyPatch', input: { input: `*** Begin Patch\n${updates}*** End Patch` } }),
    ).toBe(undefined)
    expect(await exited).toEqual([null, 'SIGKILL'])
    expect(texts('a.txt', 'b.txt', 'c.txt')).toEqual(['NEW\n', name === '/b.txt' ? 'NEW\n' : 'b\n', 'c\n'])
    const hub = createToolHub(options({ run: 'victim' }))
    // Opening the run again says which call did not end.
    await hub.callDynamic('core/fs.readText', { path: 'a.txt' })
    const interrupted = (await eventsOf('victim')).find(({ type }) => type === 'call-interrupted')
    expect(interrupted).toMatchObject({ tool: 'core/fs.applyPatch' })
    const report = await hub.undo({ call: (interrupted as { callId: string }).callId })
    // The files of one patch are put on record at the same time, in any order.
    expect(report.changes.map(({ action }) => action).sort()).toEqual(
      name === '/b.txt' ? ['already', 'restored', 'restored'] : ['already', 'already', 'restored'],
    )
    expect(report.ok).toBe(true)
    expect(texts('a.txt', 'b.txt', 'c.txt')).toEqual(['a\n', 'b\n', 'c\n'])
    expect(draftsBelow(root)).toEqual([])
    await hub.close()
  },
)

it.each([
  { title: 'below the records', sandbox: () => ({}) },
  { title: 'in a folder for workspaces', sandbox: () => ({ workspaces: join(base, 'workspaces') }) },
])('clears away what a killed run left unfinished in a workspace of its own $title', async ({ sandbox }) => {
  const { child, tell } = start({ sandbox: sandbox() })
  expect(await tell({ tool: 'test/half', input: {} })).toBe('half')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(draftsBelow(base)).toHaveLength(1)
  const hub = createToolHub(options({ sandbox: sandbox(), run: 'another' }))
  const input = { path: 'ok.txt', text: 'ok' }
  expect(await hub.callDynamic('core/fs.writeText', input)).toMatchObject({ ok: true })
  expect(draftsBelow(base)).toEqual([])
  await hub.close()
  expect(readdirSync(join(base, 'data/drafts'))).toEqual([])
})

const canMoveDisk = isRoot && statSync(OTHER_DISK).dev !== statSync(tmpdir()).dev

it.skipIf(!canMoveDisk)('brings back what was deleted of a folder that could be deleted only in part', async () => {
  root = newFolder(OTHER_DISK)
  mkdirSync(join(root, 'd/locked'), { recursive: true })
  for (const [name, text] of [
    ['d/a.txt', 'precious'],
    ['d/locked/b.txt', 'b'],
  ] as const)
    writeFileSync(join(root, name), text)
  chmodSync(join(root, 'd/locked'), 0o555)
  for (const path of [base, root, join(root, 'd'), join(root, 'd/locked')]) chownSync(path, NOBODY, NOBODY)
  const { tell } = start({}, NOBODY)
  const removed = await tell({ tool: 'test/remove', input: { path: 'd' } })
  expect(removed.error).toMatchObject({
    code: 'UPSTREAM_ERROR',
    message: expect.stringMatching(/Only a part of .*d" could be removed \(EACCES\); the rest stands where it was/),
    fix: { hint: expect.stringContaining('undo') },
  })
  expect(readdirSync(root, { recursive: true })).toEqual(['d', 'd/locked', 'd/locked/b.txt'])
  expect(await tell({ undo: { dryRun: true } })).toMatchObject({ ok: true, changes: [{ action: 'restored' }] })
  const undone = await tell({ undo: {} })
  expect(undone).toMatchObject({ ok: true, changes: [{ action: 'restored' }] })
  expect(texts('d/a.txt', 'd/locked/b.txt')).toEqual(['precious', 'b'])
  expect(await tell({ undo: { call: undone.callId } })).toMatchObject({ ok: true, changes: [{ action: 'removed' }] })
  writeFileSync(join(root, 'd/locked/b.txt'), 'by a person')
  expect(await tell({ undo: { call: removed.callId } })).toMatchObject({ ok: false, changes: [{ action: 'refused' }] })
})

it.skipIf(!isRoot)('patches a file of somebody else, to which the system allows no second link', async () => {
  writeFileSync(join(root, 'a.txt'), 'a\n')
  for (const path of [base, root]) chownSync(path, NOBODY, NOBODY)
  const { tell } = start({}, NOBODY)
  const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** End Patch'
  expect(await tell({ tool: 'core/fs.applyPatch', input: { input: patch } })).toMatchObject({ ok: true })
  expect(texts('a.txt')).toEqual(['A\n'])
  expect(await tell({ undo: {} })).toMatchObject({ ok: true })
  expect(texts('a.txt')).toEqual(['a\n'])
})
