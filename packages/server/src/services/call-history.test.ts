import { appendFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Store } from '../../../core/src/store.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { RunIndexer } from '../../../runtime/src/hub/run-index/run-indexer.ts'
import { type TestHub, testHub } from '../../../testing/src/tool-contract.ts'
import type { CallHistory } from './call-history.ts'
import { createCallHistory } from './call-history.ts'

const echo = defineTool({
  name: 'test.echo',
  description: 'Gives back what it gets.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text,
  toModel: (text) => text,
})

const nest = defineTool({
  name: 'test.nest',
  description: 'Calls the other one.',
  input: z.strictObject({}),
  async execute(_, ctx) {
    await ctx.call('test.echo', { text: 'inner' })
    return 'done'
  },
})

let hub: TestHub
let store: Store
let indexer: RunIndexer
let history: CallHistory
let runsFolder: string

beforeAll(() => {
  hub = testHub({
    tools: [echo, nest],
    policy: [{ allow: '*' }, { deny: 'read:fs', on: '**/unreadable.txt' }],
  }) as unknown as TestHub
  runsFolder = join(hub.folder, 'runs')
  store = openStore(join(hub.folder, 'data'))
  indexer = new RunIndexer({ calls: store.calls, runsFolder })
  indexer.follow(hub)
  history = createCallHistory({ hub, store, runsFolder, indexer })
})

afterAll(async () => {
  await indexer.close()
  await store.close()
  await hub.close()
})

const NOTHING_LATER = { files: [], isTruncated: false }

const write = (run: string, path: string, text: string) =>
  hub.callDynamic('core/fs.writeText', { path, text, overwrite: true }, { run })

describe('the lists of a call history', () => {
  it('have what was called just now', async () => {
    const { callId } = await hub.callDynamic('test.echo', { text: 'hi' }, { run: 'run-list', caller: 'ada' })
    const { calls } = await history.calls({ run: 'run-list', limit: 10 })
    expect(calls).toMatchObject([{ callId, tool: 'test.echo', caller: 'ada', status: 'ok', effect: 'allow' }])
    const { runs } = await history.runs({ caller: 'ada', limit: 10 })
    expect(runs).toMatchObject([{ run: 'run-list', calls: 1, failures: 0 }])
  })

  it('find runs by text and time on the server, and say what the session of a run is for', async () => {
    await hub.callDynamic('test.echo', { text: 'hi' }, { run: 'run-goal', caller: 'ada' })
    await store.sessions.add({
      ...{ id: 'run-goal', root: 'run-goal', depth: 0, rootPrincipal: 'token:ci', label: 'reader' },
      ...{ task: `Compare the\u202e papers ${'x'.repeat(400)}`, isTainted: false, createdAt: 1, owner: 'o' },
    })
    const idsOf = async (filter: object) => (await history.runs({ limit: 10, ...filter })).runs.map(({ run }) => run)
    const [found] = (await history.runs({ text: 'PAPERS', limit: 10 })).runs
    expect(found).toMatchObject({ run: 'run-goal', caller: 'ada', principal: 'token:ci', label: 'reader' })
    expect(found!.goal).toMatch(/^Compare the\\u\{202e\} papers x+…$/)
    const { startedAt, endedAt } = found!
    expect(await idsOf({ text: 'papers', from: startedAt, to: startedAt + 1 })).toEqual(['run-goal'])
    expect(await idsOf({ text: 'papers', from: endedAt + 1 })).toEqual([])
    expect(await idsOf({ text: 'papers', to: startedAt })).toEqual([])
    expect(await idsOf({ text: 'papers', to: startedAt + 1, before: startedAt })).toEqual([])
  })

  it('page through all calls, each once, however many began in one millisecond', async () => {
    const made = await Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        hub.callDynamic('test.echo', { text: String(number) }, { run: 'run-pages' }),
      ),
    )
    const seen: string[] = []
    for (let before: number | undefined, page = 0; page < 100; page++) {
      const { calls, next } = await history.calls({ run: 'run-pages', before, limit: 7 })
      seen.push(...calls.map(({ callId }) => callId))
      if (next === undefined) break
      before = next
    }
    expect(seen.toSorted()).toEqual(made.map(({ callId }) => callId).toSorted())
  })

  it('show texts of models without what could hide or reorder words', async () => {
    await hub.callDynamic('test.echo', { text: 'safe' }, { run: 'run-odd', caller: 'a\u202eda\u0007' })
    const { calls } = await history.calls({ run: 'run-odd', limit: 1 })
    expect(calls[0]?.caller).toBe('a\\u{202e}da\\u{7}')
  })
})

describe('a call in a call history', () => {
  it('comes with its lines of the record and the calls it made', async () => {
    const { callId } = await hub.callDynamic('test.nest', {}, { run: 'run-nest' })
    const { call, lines, children } = await history.call(callId)
    expect(call).toMatchObject({ callId, tool: 'test.nest', status: 'ok' })
    expect(lines.at(-1)).toMatchObject({ type: 'call-ended', callId })
    expect(children).toMatchObject([{ tool: 'test.echo', parent: callId }])
  })

  it('is read from the index when its record is gone', async () => {
    const { callId } = await hub.callDynamic('test.echo', { text: 'x' }, { run: 'run-gone' })
    await history.call(callId)
    await hub.endRun('run-gone')
    await rm(join(runsFolder, 'run-gone'), { recursive: true })
    expect(await history.call(callId)).toMatchObject({ call: { callId }, lines: [] })
    expect(await history.runLater('run-gone')).toEqual(NOTHING_LATER)
    await expect(history.export('run-gone')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is NOT_FOUND when there is none', async () => {
    await expect(history.call('c-nothing')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('a run in a call history', () => {
  it('names the files that run by themselves and were changed, each with its last call', async () => {
    await write('run-plain', 'plain.txt', '')
    expect(await history.runLater('run-plain')).toEqual(NOTHING_LATER)
    const path = '.github/workflows/ci.yml'
    await hub.callDynamic('core/fs.writeText', { path, text: 'on: push', mkdirp: true }, { run: 'run-later' })
    await hub.callDynamic('core/fs.readText', { path }, { run: 'run-later' })
    const { callId } = await write('run-later', path, 'on: pull_request')
    expect(await history.runLater('run-later')).toEqual({
      files: [{ path: expect.stringMatching(/\/\.github\/workflows\/ci\.yml$/), by: 'a pipeline', callId }],
      isTruncated: false,
    })
    await expect(history.runLater('run-none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('has its calls oldest first, its lines from any one on, and its record to the byte', async () => {
    for (const text of ['a', 'b', 'c']) await hub.callDynamic('test.echo', { text }, { run: 'run-whole' })
    const { run, calls, isTruncated } = await history.run('run-whole')
    expect(run).toMatchObject({ run: 'run-whole', calls: 3 })
    expect(calls.map(({ summary }) => summary)).toEqual(['a', 'b', 'c'])
    expect(isTruncated).toBe(false)
    expect((await history.lines('run-whole', { after: 2, limit: 1 })).map(({ seq }) => seq)).toEqual([3])
    const exported = await new Response(await history.export('run-whole')).text()
    expect(exported).toBe(await readFile(join(runsFolder, 'run-whole', 'events.jsonl'), 'utf8'))
  })

  it.each(['no-such-run', '../../etc', '', 'a/b'])('is NOT_FOUND by the id %j', async (run) => {
    await expect(history.run(run)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(history.lines(run, { after: 0, limit: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(history.export(run)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(history.changes(run)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(history.undo(run, { by: 'ada' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(history.verify({ run })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})

describe('the changes of a run', () => {
  it('come newest first with what was before, and make no call to look at them', async () => {
    await write('run-files', 'a.txt', 'one\n')
    await write('run-files', 'a.txt', 'two\n')
    await write('run-files', 'b.txt', 'new\n')
    const before = await history.run('run-files')
    const changes = await history.changes('run-files')
    expect(changes.map(({ path, action }) => [path.split('/').at(-1), action])).toEqual([
      ['b.txt', 'remove'],
      ['a.txt', 'restore'],
      ['a.txt', 'remove'],
    ])
    expect(changes[1]?.diff).toContain('-two\n+one')
    expect(changes[2]?.diff).toContain('-one')
    expect((await history.run('run-files')).calls).toHaveLength(before.calls.length)
  })

  it('are taken back under the name of who did it, and say so then', async () => {
    await write('run-undo', 'a.txt', 'one\n')
    const [change] = await history.changes('run-undo')
    const rehearsed = await history.undo('run-undo', { by: 'token:ada', dryRun: true })
    expect(rehearsed).toMatchObject({ ok: true, dryRun: true, changes: [{ action: 'removed' }] })
    const undone = await history.undo('run-undo', { call: change!.callId, by: 'token:ada' })
    expect(undone).toMatchObject({ ok: true, changes: [{ callId: change!.callId, tool: 'core/fs.writeText' }] })
    expect((await history.changes('run-undo')).map(({ action }) => action)).toContain('already')
    const { calls } = await history.calls({ caller: 'token:ada', tool: 'core/fs.undo', limit: 5 })
    expect(calls.length).toBeGreaterThan(0)
  })

  it('show no content that policy does not let anybody read, and no secret', async () => {
    await write('run-secret', 'notes.txt', `key = ghp_${'a1B2'.repeat(9)}\n`)
    const [change] = await history.changes('run-secret')
    expect(change?.diff).toContain('[redacted:')
    expect(change?.diff).not.toContain('ghp_a1B2')
    await write('run-secret', 'unreadable.txt', 'nobody reads this\n')
    const [hidden] = await history.changes('run-secret')
    expect(hidden).toMatchObject({ action: 'remove', path: expect.stringContaining('unreadable.txt') })
    expect(hidden).not.toHaveProperty('diff')
  })
})

describe('verifying', () => {
  it('finds the run whose record was changed, among all of them', async () => {
    await hub.callDynamic('test.echo', { text: 'x' }, { run: 'run-forged' })
    await hub.endRun('run-forged')
    expect(await history.verify({ run: 'run-forged' })).toMatchObject({
      ok: true,
      runs: [{ run: 'run-forged', calls: 1 }],
    })
    await appendFile(join(runsFolder, 'run-forged', 'events.jsonl'), '{"seq":9}\n')
    await writeFile(join(runsFolder, 'not-a-run.txt'), '')
    const { ok, runs } = await history.verify()
    expect(ok).toBe(false)
    expect(runs.filter((run) => !run.ok).map(({ run }) => run)).toEqual(['run-forged', 'run-gone'])
    expect(await history.verify({ only: 'missing' })).toMatchObject({ ok: false, runs: [{ run: 'run-gone' }] })
    expect(runs.find(({ run }) => run === 'run-forged')?.problems.length).toBeGreaterThan(0)
  })

  it('is done once for concurrent requests', async () => {
    const [all, again] = await Promise.all([history.verify(), history.verify()])
    expect(again).toBe(all)
    expect(await history.verify()).not.toBe(all)
  })
})

describe('a run that somebody removes', () => {
  const ask = (run: string) => ({
    ...{ id: `ask-${run}`, kind: 'approval' as const, callId: 'c', run, tool: 't', caller: 'c', hash: 'h' },
    ...{ request: '{}', askedAt: Date.now(), expiresAt: Date.now() + 60_000, owner: 'o' },
  })

  it('is gone from the lists and the disk, and what was removed stays provable', async () => {
    await hub.callDynamic('test.echo', { text: 'hi' }, { run: 'run-removed' })
    const [line] = await history.lines('run-removed', { after: -1, limit: 1 })
    expect(line).toMatchObject({ type: 'run-opened' })
    await history.remove('run-removed', { by: 'ada' })
    expect((await history.runs({ text: 'run-removed', limit: 10 })).runs).toEqual([])
    await expect(history.run('run-removed')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(readFile(join(runsFolder, 'run-removed', 'events.jsonl'))).rejects.toMatchObject({ code: 'ENOENT' })
    const changes = await history.lines(hub.run, { after: -1, limit: 1_000 })
    const removals = changes.filter(({ type }) => type === 'hub-changed')
    expect(removals).toMatchObject([
      { by: 'ada', change: 'run-removed', subject: 'run-removed', head: { hash: expect.any(String) } },
    ])
    const { runs } = await history.verify({ only: 'missing' })
    expect(runs.map(({ run }) => run)).not.toContain('run-removed')
  })

  it('is kept while a call waits, its session works, or its record does not verify', async () => {
    const refused = (run: string, why: string) =>
      expect(history.remove(run, { by: 'ada' })).rejects.toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining(why),
      })
    for (const run of ['run-waits', 'run-works', 'run-broken'])
      await hub.callDynamic('test.echo', { text: run }, { run })
    await store.approvals.file(ask('run-waits'))
    await refused('run-waits', 'waits for a person')
    await store.sessions.add({
      ...{ id: 'run-works', root: 'run-works', depth: 0, rootPrincipal: 'owner', runner: 'r' },
      ...{ isTainted: false, createdAt: 1, owner: 'o' },
    })
    await refused('run-works', 'session is running')
    await hub.endRun('run-broken')
    const file = join(runsFolder, 'run-broken', 'events.jsonl')
    await writeFile(file, (await readFile(file, 'utf8')).replace('test.echo', 'test.else'))
    await refused('run-broken', 'does not verify')
    await refused(hub.run, 'its own changes')
    for (const run of ['run-waits', 'run-works', 'run-broken'])
      expect(await history.run(run)).toMatchObject({ run: { run } })
    await expect(history.remove('../elsewhere', { by: 'ada' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })
})
