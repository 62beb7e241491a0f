import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { newRun, started } from '../../../../test/support/record-run.ts'
import { type Machine, newMachine } from '../../../../test/support/shared-records.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import { bodyOf, FIRST_PREV, inspectLine, linkLine } from '../../../runtime/src/records/log/event-line.ts'
import { RunRecords } from '../../../runtime/src/records/log/run-records.ts'
import { FolderCheck } from '../../../runtime/src/records/log/verify-folder.ts'
import type { SegmentStore } from '../store/types.ts'
import { findMove } from './local-copy.ts'
import { SharedCheck, type SharedCheckOptions } from './verify-shared.ts'

const store = openStore(temporaryFolder('shared-store'))
afterAll(() => store.close())

let machines = 0
/** A machine, or a new process on one. */
const machine = (root = temporaryFolder(`machine-${machines}`)) => newMachine(store, root, `c${machines++}`)
const refuse: SegmentStore['append'] = async () => {
  throw new Error('away')
}

/** Opens the run and adds the start of a call; its process then ends. What the store does not take is on this machine only. */
async function use(one: Machine, run: string, { isShared = true, calls = 1, size = 0 } = {}): Promise<void> {
  if (!isShared) one.segments.append = refuse
  const records = await one.open(run)
  for (let call = 0; call < calls; call++)
    records.append(started(`${one.id}-${call}`, { args: { text: 'x'.repeat(size) } }))
  await (isShared ? records.synced() : records.written())
  await one.end()
  await rm(join(one.root, run, 'lock'), { force: true })
}

const check = async (one: Machine, run: string, options: Partial<SharedCheckOptions> = {}) => {
  const shared = await SharedCheck.open({ source: { segments: store.segments }, heads: store.heads, ...options })
  const open = await SharedCheck.open({
    source: { segments: store.segments },
    heads: store.heads,
    root: one.root,
    ...options,
  })
  expect((await shared.verify(run)).problems).toEqual([])
  const { state, problems, remarks } = await open.verify(run)
  return {
    state,
    problems: problems.map(({ problem }) => problem),
    remarks: remarks.map(({ problem }) => problem),
  }
}
const moved = (seq: number) => ({
  state: 'intact',
  problems: [],
  remarks: [`this machine has other lines from event ${seq} on, which it wrote as it lost the run`],
})
const broken = (seq: number) => ({
  state: 'broken',
  problems: [`line ${seq} is not the line that the copy on this machine names as event ${seq}`],
  remarks: [],
})

/** Ends the run on a machine of its own: its record is complete and shared. */
async function finish(run: string, root?: string): Promise<Machine> {
  const last = await machine(root)
  const records = await last.open(run)
  await records.close()
  await last.end()
  return last
}

const linesOf = async (one: Machine, run: string) =>
  (await readFile(join(one.root, run, 'events.jsonl'), 'utf8')).trimEnd().split('\n')

/** Changes the bodies of lines on a machine, with hashes that fit: as somebody does who knows the format. */
async function forge(one: Machine, run: string, change: (body: string, seq: number) => string): Promise<void> {
  let last = { seq: 0, hash: FIRST_PREV }
  const forged = (await linesOf(one, run)).map((text) => {
    const line = Buffer.from(text)
    const linked = linkLine(last, inspectLine(line)!.time, change(bodyOf(line), last.seq + 1))
    last = linked
    return linked.line
  })
  await writeFile(join(one.root, run, 'events.jsonl'), forged.join(''))
}

describe('a run that moved is not reported as broken', () => {
  it('if its first lines were never shared', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(one, run, { isShared: false })
    await finish(run)
    expect(await check(one, run)).toEqual(moved(1))
  })

  it('if it was taken over twice, and the first two machines have lines that were never shared', async () => {
    const [one, two, run] = [await machine(), await machine(), newRun()]
    await use(one, run, { isShared: false })
    await use(two, run, { isShared: false, calls: 3 })
    await finish(run)
    expect(await check(one, run)).toEqual(moved(1))
    expect(await check(two, run)).toEqual(moved(1))
  })

  it('if both machines continue a record that is partly shared', async () => {
    const [one, two, run] = [await machine(), await machine(), newRun()]
    await use(await machine(), run)
    await use(one, run, { isShared: false, calls: 5 })
    await use(two, run, { isShared: false })
    const three = await finish(run)
    expect(await check(one, run)).toEqual(moved(3))
    expect(await check(two, run)).toEqual(moved(3))
    expect(await check(three, run)).toEqual({ state: 'intact', problems: [], remarks: [] })
  })

  it.each([
    ['none of its lines were shared', false, 1],
    ['its first lines were shared', true, 3],
  ])('if the first machine took it back, and %s', async (_, isShared, seq) => {
    const [one, two, run] = [await machine(), await machine(), newRun()]
    if (isShared) await use(await machine(one.root), run)
    await use(one, run, { isShared: false, calls: 2 })
    await use(two, run, { isShared: false })
    const again = await finish(run, one.root)
    expect(await check(again, run)).toEqual({ state: 'intact', problems: [], remarks: [] })
    expect(await check(two, run)).toEqual(moved(seq))
  })

  it('if the other machine had it several times', async () => {
    const [one, two, run] = [await machine(), await machine(), newRun()]
    await use(one, run, { isShared: false })
    await use(two, run, { isShared: false })
    await use(await machine(two.root), run, { isShared: false })
    await finish(run, one.root)
    expect(await check(two, run)).toEqual(moved(1))
  })

  it('if the lines that were never shared are many', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(one, run, { isShared: false, calls: 900, size: 1_500 })
    const two = await machine()
    await use(two, run, { calls: 900, size: 1_500 })
    await finish(run)
    expect(await check(one, run)).toEqual(moved(1))
  }, 60_000)

  it('if its segments were sealed into one object', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(await machine(), run)
    await use(one, run, { isShared: false })
    await finish(run)
    const all = await store.segments.read(run, { from: 1, limit: 10 })
    const content = Buffer.from(all.map(({ lines }) => lines).join(''))
    await store.segments.move(run, { first: 1, last: all.at(-1)!.last, object: 'sealed' })
    const source = { segments: store.segments, readObject: async () => content }
    expect(await check(one, run, { source })).toEqual(moved(3))
  })

  it('if a run of its name was removed, and this machine has its copy of that one', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(one, run)
    await store.segments.remove(run)
    await store.heads.remove(run, { by: 'ada', at: 1 })
    await store.runStates.remove(run)
    await finish(run)
    const remarks = ['this machine has other lines from event 1 on: of the run of this name that was removed']
    expect(await check(one, run)).toEqual({ state: 'intact', problems: [], remarks })
  })

  it('if this machine wrote a run of its name before the hub shared its records', async () => {
    const [one, run] = [await machine(), newRun()]
    const clock = { now: () => 1_000, after: () => () => {} }
    await RunRecords.open(one.root, run, { durability: 'effects', clock, heads: store.heads }).close()
    await finish(run)
    const remarks = ['this machine has other lines from event 1 on, which it wrote before the hub shared its records']
    expect(await check(one, run, { sharedSince: 2_000 })).toEqual({ state: 'intact', problems: [], remarks })
    const shared = await SharedCheck.open({
      source: { segments: store.segments },
      heads: store.heads,
      root: one.root,
      sharedSince: 500,
    })
    expect(await shared.verify(run)).toMatchObject({ state: 'broken' })
  })
})

describe('a copy that was tampered with is reported', () => {
  const changed = (seq: number) => (body: string, at: number) =>
    at === seq ? body.replace('notes.save', 'notes.none') : body

  it('if a shared line was changed, and all hashes fit', async () => {
    const run = newRun()
    await use(await machine(), run)
    const last = await finish(run)
    await forge(last, run, changed(2))
    expect(await check(last, run)).toEqual(broken(2))
  })

  it('if only the text of a line was changed', async () => {
    const run = newRun()
    await use(await machine(), run)
    const last = await finish(run)
    const text = (await linesOf(last, run)).join('\n').replace('notes.save', 'notes.none')
    await writeFile(join(last.root, run, 'events.jsonl'), `${text}\n`)
    expect(await check(last, run)).toEqual(broken(2))
  })

  it('if a line was changed before the ones that were never shared', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(await machine(one.root), run)
    await use(one, run, { isShared: false })
    await finish(run)
    await forge(one, run, changed(2))
    expect(await check(one, run)).toEqual(broken(2))
  })

  it('if a line that was never shared was changed, and its hash does not fit', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(one, run, { isShared: false, calls: 3 })
    await finish(run)
    const lines = await linesOf(one, run)
    lines[2] = lines[2]!.replace('notes.save', 'notes.none')
    await writeFile(join(one.root, run, 'events.jsonl'), `${lines.join('\n')}\n`)
    expect(await check(one, run)).toEqual(broken(1))
  })

  it('if the lines from a takeover on were written again, by the process that took it over', async () => {
    const run = newRun()
    await use(await machine(), run)
    const last = await finish(run)
    await forge(last, run, (body, seq) => (seq === 3 ? body.replace('"pid":', '"pid":9') : body))
    expect(await check(last, run)).toEqual(broken(3))
  })

  it.each([
    ['an epoch that the record already has', '"epoch":1'],
    ['none', '"other":1'],
    ['a later epoch', '"epoch":9'],
  ])('if a line was replaced by one that opens the run in %s', async (_, epoch) => {
    const run = newRun()
    await use(await machine(), run, { calls: 3 })
    const last = await finish(run)
    const opening = bodyOf(Buffer.from((await linesOf(last, run))[0]!)).replace('"epoch":1', epoch)
    await forge(last, run, (body, seq) => (seq === 3 ? opening : body))
    expect(await check(last, run)).toEqual(broken(3))
  })

  it('if the whole copy was replaced by one of a hub that shares nothing', async () => {
    const run = newRun()
    const last = await finish(run)
    await forge(last, run, (body) => body.replace('"epoch":1,', ''))
    expect(await check(last, run)).toEqual(broken(1))
    expect(await check(last, run, { sharedSince: 1 })).toEqual(broken(1))
  })
})

describe('audit verify of this machine', () => {
  const verify = async (one: Machine, run: string) => {
    const shared = new Set((await store.segments.heads()).map((head) => head.run))
    const move = (id: string) => findMove({ segments: store.segments }, one.root, id)
    const folder = await FolderCheck.open(one.root, store.heads, new Map(), (id) => shared.has(id), move)
    const { ok, state, problems, remarks } = await folder.verify(run)
    return { ok, state, problems, remarks: remarks.map(({ problem }) => problem) }
  }
  const continued = {
    ok: true,
    state: 'moved',
    problems: [],
    remarks: ['the run has moved: another process has continued it'],
  }

  it.each([
    ['was killed', (one: Machine, run: string) => use(one, run)],
    ['closed it', (one: Machine, run: string) => finish(run, one.root)],
  ])('says that a run moved, after this machine %s', async (_, leave) => {
    const [one, run] = [await machine(), newRun()]
    await leave(one, run)
    await one.end()
    await finish(run)
    expect(await verify(one, run)).toEqual(continued)
  })

  it('says that it moved before this machine had shared its last lines', async () => {
    const [one, run] = [await machine(), newRun()]
    await use(one, run, { isShared: false })
    await finish(run)
    expect(await verify(one, run)).toEqual({
      ...continued,
      remarks: ['the run has moved; from event 1 on, this machine has lines that it never shared'],
    })
  })

  it('fails for a run that was cut, and says what the store knows', async () => {
    const run = newRun()
    const one = await machine()
    await use(one, run, { calls: 3 })
    const path = join(one.root, run, 'events.jsonl')
    const lines = await linesOf(one, run)
    await writeFile(path, `${lines.slice(0, 2).join('\n')}\n`)
    expect(await verify(one, run)).toMatchObject({ ok: false, state: 'unproven' })
  })

  it('fails for a run that was closed and cut, although another machine has continued it', async () => {
    const run = newRun()
    const one = await finish(run)
    await finish(run)
    const lines = await linesOf(one, run)
    await writeFile(join(one.root, run, 'events.jsonl'), `${lines[0]}\n`)
    expect(await verify(one, run)).toMatchObject({ ok: false, state: 'broken' })
    await rm(join(one.root, run, 'head.json'))
    expect(await verify(one, run)).toMatchObject({ ok: false, state: 'unproven' })
  })
})
