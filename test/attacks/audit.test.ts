import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/context.ts'
import type { Store } from '../../packages/core/src/store.ts'
import { FIRST_PREV, linkLine } from '../../packages/runtime/src/records/log/event-line.ts'
import { RunRecords } from '../../packages/runtime/src/records/log/run-records.ts'
import { FolderCheck } from '../../packages/runtime/src/records/log/verify-folder.ts'
import type { VerifyReport } from '../../packages/runtime/src/records/log/verify-run.ts'
import { adoptDataFolder } from '../../packages/sandbox/src/system/data-folder.ts'
import { bundleModule } from '../support/run-module.ts'

const folder = mkdtempSync(join(tmpdir(), 'tool-hub-audit-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let home: string
let runs: string
let store: Store
beforeEach(() => {
  home = mkdtempSync(join(folder, 'home-'))
  runs = join(home, 'runs')
  store = openStore(join(home, 'data'))
})
afterEach(() => store.close())

/** Three calls in a run of their own, closed: `run-opened`, three ends, `run-closed`. */
async function record(run: string, kept: Store | false = store, root = home): Promise<void> {
  const hub = createToolHub({ runs: join(root, 'runs'), data: join(root, 'data'), ...(kept && { store: kept }) })
  for (let call = 0; call < 3; call++) await hub.call('core/util.time.now', {}, { run })
  await hub.close()
}

/** What `audit verify` says of every run, by name; what is gone included. */
async function verify(heads: Pick<Store['heads'], 'list'> | undefined = store.heads, names = ['a', 'b', 'c']) {
  const check = await FolderCheck.open(runs, heads)
  const reports: Record<string, VerifyReport> = {}
  for (const run of names) if (existsSync(join(runs, run))) reports[run] = await check.verify(run)
  for (const report of check.missing()) reports[report.run] = report
  return reports
}

async function states(heads?: Pick<Store['heads'], 'list'>): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await verify(heads)).map(([run, { state }]) => [run, state]))
}

function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').filter(Boolean)
}

function write(path: string, lines: readonly string[]): void {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
}

/** Removes the end of a run, its head and the lines of its logs: what is left looks like a crash. */
function cutTail(run: string, keep = 2): void {
  const path = join(runs, run, 'events.jsonl')
  write(path, linesOf(path).slice(0, keep))
  const log = join(runs, run, 'logs', 'tools.jsonl')
  write(log, linesOf(log).slice(0, keep - 1))
  rmSync(join(runs, run, 'head.json'))
}

/** Makes a run anew, all hashes, its head and its logs as if it had always been so. */
function rewrite(run: string, change: (body: string) => string, root = runs): void {
  const path = join(root, run, 'events.jsonl')
  let last: { seq: number; hash: string; line: string } = { seq: 0, hash: FIRST_PREV, line: '' }
  const lines = linesOf(path).map((line) => {
    const { seq: _, time, prev: __, hash: ___, ...body } = JSON.parse(line)
    last = linkLine(last, time, change(JSON.stringify(body)))
    return last.line.slice(0, -1)
  })
  write(path, lines)
  const log = join(root, run, 'logs', 'tools.jsonl')
  write(log, linesOf(log).map(change))
  const headFile = join(root, run, 'head.json')
  const head = { ...JSON.parse(readFileSync(headFile, 'utf8')), seq: last.seq, hash: last.hash }
  writeFileSync(
    headFile,
    JSON.stringify({ ...head, bytes: readFileSync(path).length, toolsBytes: readFileSync(log).length }),
  )
}

const forge = (body: string) => body.replaceAll('"caller":"library"', '"caller":"nobody!"')

describe('records that an attacker has changed, of a hub with a store', () => {
  beforeEach(async () => {
    for (const run of ['a', 'b', 'c']) await record(run)
  })

  it('are clean before', async () => {
    expect(await states()).toEqual({ a: 'intact', b: 'intact', c: 'intact' })
    expect((await verify()).b).toMatchObject({ ok: true, problems: [], remarks: [] })
  })

  it.each(['a', 'b', 'c'])('without the end of run %s', async (run) => {
    cutTail(run)
    const report = (await verify())[run]
    expect(report).toMatchObject({ ok: false, state: 'broken' })
    expect(report?.problems[0]?.problem).toBe('lines were removed at the end: the store names event 5')
  })

  it('without the end of a run, which the hub then opened again', async () => {
    cutTail('b')
    await record('b')
    expect((await verify()).b).toMatchObject({ state: 'broken' })
  })

  it('without the end of a run, which then grew beyond it', async () => {
    cutTail('b')
    for (let time = 0; time < 3; time++) await record('b')
    const { problems } = (await verify()).b!
    expect(problems.map(({ problem }) => problem)).toContain('line 5 is not the line that the store names as event 5')
  })

  it('with a run that was emptied and begun anew', async () => {
    rmSync(join(runs, 'b'), { recursive: true })
    await record('b')
    expect((await verify()).b).toMatchObject({ state: 'broken' })
  })

  it('with a run made anew from its first line', async () => {
    rewrite('b', forge)
    const { state, problems } = (await verify()).b!
    expect(state).toBe('broken')
    expect(problems.map(({ problem }) => problem)).toEqual([
      'line 5 is not the line that the store names as event 5',
      'line 5 is not the line that the first line of run c names as event 5',
    ])
  })

  it.each(['a', 'b', 'c'])('without the folder of run %s', async (run) => {
    rmSync(join(runs, run), { recursive: true })
    const report = (await verify())[run]
    expect(report).toMatchObject({ ok: false, state: 'broken', lines: 0 })
    expect(report?.problems[0]?.problem).toContain('the run is gone: the store names its event 5')
  })

  it('without the events of a run', async () => {
    rmSync(join(runs, 'b', 'events.jsonl'))
    expect((await verify()).b).toMatchObject({ state: 'broken' })
  })

  it('with two runs that have changed places', async () => {
    renameSync(join(runs, 'a'), join(runs, 'x'))
    renameSync(join(runs, 'b'), join(runs, 'a'))
    renameSync(join(runs, 'x'), join(runs, 'b'))
    expect(await states()).toEqual({ a: 'broken', b: 'broken', c: 'intact' })
    for (const [run, other] of [
      ['a', 'b'],
      ['b', 'a'],
    ] as const)
      rewrite(run, (body) => body.replace(`"run":"${other}"`, `"run":"${run}"`))
    expect(await states()).toMatchObject({ a: 'broken', b: 'broken' })
  })

  it('with a run of another hub', async () => {
    const other = join(home, 'other')
    const theirs = openStore(join(other, 'data'))
    await record('d', theirs, other)
    await theirs.close()
    cpSync(join(other, 'runs', 'd'), join(runs, 'd'), { recursive: true })
    const report = (await verify(store.heads, ['d'])).d
    expect(report).toMatchObject({ ok: false, state: 'unproven' })
    expect(report?.remarks[0]?.problem).toContain('the store has no head of this run')
  })

  it('with a store that does not have the end of a run, or none of it', async () => {
    const old = join(home, 'old')
    await store.backup(join(home, 'copy.db'))
    await record('b')
    await record('d')
    cpSync(join(home, 'copy.db'), join(old, 'store.db'), { recursive: true })
    adoptDataFolder(old)
    const behind = openStore(old)
    const reports = await verify(behind.heads, ['a', 'b', 'd'])
    await behind.close()
    expect(reports.a).toMatchObject({ state: 'intact' })
    expect(reports.b).toMatchObject({
      state: 'unproven',
      remarks: [{ problem: 'the store knows this run up to event 5 only, but the run was closed by event 10' }],
    })
    expect(reports.d).toMatchObject({ state: 'unproven' })
    expect(await states({ list: () => [] })).toMatchObject({ a: 'unproven', b: 'unproven', c: 'unproven' })
  })

  it('with a changed store: the next run and the head file contradict it', async () => {
    rewrite('b', forge)
    const { seq, hash } = JSON.parse(readFileSync(join(runs, 'b', 'head.json'), 'utf8'))
    const [kept] = await store.heads.list({ run: 'b' })
    await store.heads.put({ ...kept!, seq, hash })
    expect((await verify()).b?.problems.map(({ problem }) => problem)).toEqual([
      'line 5 is not the line that the first line of run c names as event 5',
    ])
  })
})

describe('records that an attacker has changed, of a hub without a store', () => {
  beforeEach(async () => {
    for (const run of ['a', 'b', 'c']) await record(run, false)
  })

  const found = () => states(undefined)
  const bare = async () => {
    const check = await FolderCheck.open(runs, undefined)
    const reports = await Promise.all(['a', 'b', 'c'].map((run) => check.verify(run)))
    return Object.fromEntries(reports.map(({ run, state }) => [run, state]))
  }

  it('are clean before, and say what proves their end', async () => {
    expect(await bare()).toEqual({ a: 'intact', b: 'intact', c: 'intact' })
    expect((await verify()).a?.remarks[0]?.problem).toContain('written by a hub without a store')
    expect(await found()).toEqual({ a: 'intact', b: 'intact', c: 'intact' })
  })

  it.each(['a', 'b', 'c'])('without the end of run %s', async (run) => {
    cutTail(run)
    expect((await bare())[run]).toBe('broken')
  })

  it('without the end of the last run, which the hub then opened again', async () => {
    cutTail('c')
    await record('c', false)
    expect(await bare()).toMatchObject({ c: 'broken' })
  })

  it('without the end of the last run and last-head.json: the end is not proven', async () => {
    cutTail('c')
    rmSync(join(runs, 'last-head.json'))
    expect(await bare()).toEqual({ a: 'intact', b: 'intact', c: 'unproven' })
  })

  it('with a run made anew, or gone, or both of two that have changed places', async () => {
    rewrite('b', forge)
    expect(await bare()).toEqual({ a: 'intact', b: 'broken', c: 'intact' })
    rmSync(join(runs, 'a'), { recursive: true })
    expect(await bare()).toEqual({ a: 'broken', b: 'broken', c: 'intact' })
  })

  it('with a last-head.json that is not a head', async () => {
    writeFileSync(join(runs, 'last-head.json'), '{"run":"c"}')
    const check = await FolderCheck.open(runs, undefined)
    expect(check.missing()).toMatchObject([
      { ok: false, problems: [{ problem: expect.stringContaining('last-head.json') }] },
    ])
    // The next run has nobody to name, and works.
    await record('d', false)
    expect(linesOf(join(runs, 'd', 'events.jsonl'))[0]).toContain('"after":null')
  })
})

describe('records that nobody has changed', () => {
  it('of runs at the same time, in two hubs on one store, opened again and again', async () => {
    await Promise.all(['a', 'b', 'c'].map((run) => record(run)))
    await Promise.all(['a', 'b'].map((run) => record(run)))
    await record('c')
    expect(await states()).toEqual({ a: 'intact', b: 'intact', c: 'intact' })
    expect(await store.heads.list({ run: 'a' })).toHaveLength(1)
  })

  it('of a run that is open, with its head in the store', async () => {
    const hub = createToolHub({ runs, data: join(home, 'data'), store })
    await hub.call('core/util.time.now', {}, { run: 'a' })
    expect((await verify()).a).toMatchObject({ ok: true, state: 'open', problems: [] })
    await expect.poll(() => store.heads.list({ run: 'a' })).toHaveLength(1)
    expect((await verify()).a).toMatchObject({ ok: true, state: 'open', problems: [] })
    await hub.close()
    expect((await verify()).a).toMatchObject({ state: 'intact', remarks: [] })
  })

  it('of a run that was recorded before heads were kept', async () => {
    await record('a')
    rewrite('a', (body) => body.replace(/,"after":null|,"heads":"store"/g, ''))
    await store.heads.remove('a', { by: 'test', at: 0 })
    rmSync(join(runs, 'last-head.json'))
    expect((await verify()).a).toMatchObject({
      state: 'intact',
      remarks: [{ problem: 'recorded before heads were kept: only head.json proves its end' }],
    })
  })

  it('of a run that the owner removed on record, whose name is used again', async () => {
    for (const run of ['a', 'b']) await record(run)
    await store.heads.remove('a', { by: 'test', at: 0 })
    rmSync(join(runs, 'a'), { recursive: true })
    expect(await states()).toEqual({ b: 'intact' })
    await record('a')
    expect(await states()).toEqual({ a: 'intact', b: 'intact' })
  })

  it('of a process that was killed: not proven at first, intact when it was recovered', async () => {
    const script = `
      import { RunRecords } from ${JSON.stringify(await bundleModule('packages/runtime/src/records/log/run-records.ts'))}
      let keep
      const clock = { now: Date.now, after(ms, run) { if (ms === 2000) keep = run; return () => {} } }
      const line = (callId) => ({ type: 'call-started', callId, tool: 'notes.save', caller: 'child' })
      const heads = {
        async put(...head) {
          records.append(line('b'))
          await records.written()
          process.send(head)
          setInterval(() => {}, 1000)
        },
      }
      const records = RunRecords.open(${JSON.stringify(runs)}, 'a', { durability: 'effects', clock, heads })
      records.append(line('a'))
      keep()`
    const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio] })
    const exited = once(child, 'exit')
    const [head] = (await once(child, 'message')) as [Parameters<Store['heads']['put']>]
    await store.heads.put(...head)
    child.kill('SIGKILL')
    await exited
    expect(await store.heads.list({ run: 'a' })).toMatchObject([{ seq: 2 }])
    expect((await verify()).a).toMatchObject({ ok: false, state: 'unproven', lines: 3, problems: [] })
    const hub = createToolHub({ runs, data: join(home, 'data'), store })
    expect(await hub.recoverRuns()).toBe(1)
    await hub.close()
    expect((await verify()).a).toMatchObject({ ok: true, state: 'intact', interrupted: 2 })
  })

  it('of a run whose store refuses: the record is closed, its end not proven, and the owner is warned once', async () => {
    const problems: string[] = []
    const records = RunRecords.open(runs, 'a', {
      durability: 'effects',
      clock: systemClock,
      heads: {
        put() {
          throw new Error('the store is full')
        },
      },
      onProblem: ({ message }) => problems.push(message),
    })
    await records.close()
    expect(problems).toEqual([expect.stringContaining('the store is full')])
    expect((await verify()).a).toMatchObject({ state: 'unproven', problems: [] })
  })
})
