import {
  appendFileSync,
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { WriteFiles } from '../packages/core/src/handles.ts'
import { defineTool } from '../packages/core/src/tool.ts'
import { verifyRun } from '../packages/runtime/src/records/log/verify-run.ts'
import { fakeClock } from '../packages/testing/src/fake-clock.ts'
import { type TestHub, testHub } from '../packages/testing/src/tool-contract.ts'
import { eventsOf } from './support/events-of.ts'

type Change = { readonly [K in keyof WriteFiles]: [K, ...Parameters<WriteFiles[K]>] }[keyof WriteFiles]

/** Changes files as its input says, several in one call. */
const change = defineTool({
  name: 'test/change',
  description: 'Changes files.',
  input: z.strictObject({ changes: z.array(z.array(z.unknown())) }),
  capabilities: ['read:fs', 'write:fs', 'danger:destructive'],
  async execute({ changes }, { fs }) {
    for (const [name, ...words] of changes as unknown as Change[]) {
      if (name === 'writeBytes') words[1] = Buffer.from(String(words[1]), 'hex')
      await (fs[name] as (...words: unknown[]) => Promise<unknown>)(...words)
    }
    return changes.length
  },
})

let base: string
let root: string
let hub: TestHub

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'undo-')))
  root = join(base, 'ws')
  mkdirSync(join(root, 'd/e'), { recursive: true })
  writeFileSync(join(root, 'a.txt'), 'old text\n', { mode: 0o640 })
  writeFileSync(join(root, 'd/x.bin'), Buffer.from([0, 255, 1, 254]))
  writeFileSync(join(root, 'd/e/run.sh'), '#!/bin/sh\n')
  chmodSync(join(root, 'd/e/run.sh'), 0o755)
  chmodSync(join(root, 'd/e'), 0o750)
  symlinkSync('gone', join(root, 'link'))
  hub = open()
})
afterEach(async () => {
  await hub.close()
  rmSync(base, { recursive: true })
})

function open(options: Parameters<typeof testHub>[0] = {}): TestHub {
  const policy = [{ allow: 'danger:destructive' }]
  return testHub({ tools: [change], sandbox: { root }, policy, ...options }) as unknown as TestHub
}

async function make(...changes: Change[]): Promise<string> {
  const result = await hub.callDynamic('test/change', { changes })
  expect(result).toMatchObject({ ok: true })
  return result.callId
}

/** Everything below a folder: types, modes, bytes. */
function snapshot(folder = root): Record<string, string> {
  const found: Record<string, string> = {}
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const { mode } = lstatSync(path)
    const content = entry.isFile()
      ? readFileSync(path).toString('hex')
      : entry.isSymbolicLink()
        ? readlinkSync(path)
        : ''
    found[relative(folder, path)] = `${mode.toString(8)} ${content}`
  }
  return found
}

const actions = (report: Awaited<ReturnType<TestHub['undo']>>) => report.changes.map(({ action }) => action)

describe('undo', () => {
  const cases: Record<string, Change[]> = {
    'a new file': [['writeText', 'new.txt', 'new']],
    'a new file with its folders': [['writeText', 'p/q/new.txt', 'new']],
    'a replaced file': [['writeText', 'a.txt', 'new', { overwrite: true }]],
    'a replaced file of bytes': [['writeBytes', 'd/x.bin', '09' as never, { overwrite: true }]],
    'a removed file': [['remove', 'd/e/run.sh']],
    'a moved file': [['move', 'a.txt', 'p/b.txt']],
    'a moved folder': [['move', 'd', 'moved']],
    'a moved link': [['move', 'link', 'd/moved-link']],
    'a moved folder with a link in it': [
      ['move', 'link', 'd/link'],
      ['move', 'd', 'moved'],
    ],
    'a new folder': [['makeFolder', 'p/q/r']],
    'a removed folder': [
      ['remove', 'd/e/run.sh'],
      ['remove', 'd/e'],
    ],
    'a removed tree': [['remove', 'd', { recursive: true }]],
    'a copied file': [['copy', 'd/e/run.sh', 'copy.sh']],
    'a copied folder': [['copy', 'd', 'copies/d']],
    'changes that happen together': [
      [
        'changeAll',
        [
          { type: 'create', path: 'n', content: 'n' },
          { type: 'create', path: 'd/n', content: 'n' },
        ],
      ],
    ],
    'a removed tree that was changed before': [
      ['writeText', 'd/x.bin', 'text', { overwrite: true }],
      ['move', 'a.txt', 'd/a.txt'],
      ['remove', 'd', { recursive: true }],
      ['writeText', 'd', 'now a file'],
    ],
  }

  it.each(Object.entries(cases))('brings back the exact bytes and modes after %s', async (_, changes) => {
    const before = snapshot()
    await make(...changes.map((entry) => structuredClone(entry)))
    const after = snapshot()
    expect(after).not.toEqual(before)
    const foretold = await hub.undo({ dryRun: true })
    expect(snapshot()).toEqual(after)
    const report = await hub.undo()
    expect(snapshot()).toEqual(before)
    expect(report).toMatchObject({ ok: true, calls: [{ tool: 'test/change', run: hub.run }] })
    expect(report.changes).toEqual(foretold.changes)
  })

  it('takes back the last call, then the one before, and says when there is nothing left', async () => {
    await make(['writeText', 'a.txt', 'one', { overwrite: true }])
    await make(['writeText', 'a.txt', 'two', { overwrite: true }])
    await make(['writeText', 'a.txt', 'one', { overwrite: true }])
    const seen = []
    for (let round = 0; round < 4; round += 1) {
      await hub.undo()
      seen.push(readFileSync(join(root, 'a.txt'), 'utf8'))
    }
    expect(seen).toEqual(['two', 'one', 'old text\n', 'old text\n'])
    expect(await hub.undo()).toEqual({ ok: true, dryRun: false, calls: [], changes: [] })
  })

  it('takes back one call by its id, and refuses when a later one built on it', async () => {
    const first = await make(['writeText', 'a.txt', 'one', { overwrite: true }], ['writeText', 'b.txt', 'b'])
    await make(['writeText', 'a.txt', 'two', { overwrite: true }])
    const report = await hub.undo({ call: first })
    expect(report.changes).toMatchObject([
      { action: 'removed', path: join(root, 'b.txt') },
      { action: 'refused', reason: 'was changed since' },
    ])
    expect(report.ok).toBe(false)
  })

  it('undoes an undo by its call id, and that one too', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }], ['remove', 'd', { recursive: true }])
    const changed = snapshot()
    const { callId } = await hub.undo()
    const before = snapshot()
    const redo = await hub.undo({ call: callId })
    expect(redo.ok).toBe(true)
    expect(snapshot()).toEqual(changed)
    await hub.undo({ call: redo.callId })
    expect(snapshot()).toEqual(before)
    await hub.undo({ run: hub.run })
    expect(snapshot()).toEqual(before)
  })

  it('gives exactly the tree before the run, whatever its calls did', async () => {
    const path = fc.constantFrom('a.txt', 'd', 'd/x.bin', 'd/e', 'd/e/run.sh', 'n', 'n/m', 'd/n')
    const step = fc.oneof(
      fc.tuple(fc.constant('writeText'), path, fc.string(), fc.constant({ overwrite: true })),
      fc.tuple(fc.constant('remove'), path, fc.constant({ recursive: true })),
      fc.tuple(fc.constant('makeFolder'), path),
      fc.tuple(fc.constant('move'), path, path),
      fc.tuple(fc.constant('copy'), path, path),
    )
    const before = snapshot()
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        const run = `run-${count++}`
        // Steps that cannot be are refused by the guard, and then nothing is to be undone.
        for (const changes of steps) await hub.callDynamic('test/change', { changes: [changes] }, { run })
        const report = await hub.undo({ run })
        expect(report.changes.filter(({ action }) => action === 'refused')).toEqual([])
        expect(snapshot()).toEqual(before)
      }),
      { numRuns: 30 },
    )
  })
})

describe('a file that was changed since', () => {
  it('is refused with a diff of what force would do, then forced, and can be had back', async () => {
    await make(['writeText', 'a.txt', 'by the tool\n', { overwrite: true }])
    writeFileSync(join(root, 'a.txt'), 'by a person\n')
    const refused = await hub.undo()
    expect(refused).toMatchObject({ ok: false, changes: [{ action: 'refused', reason: 'was changed since' }] })
    expect(refused.changes[0]!.diff).toContain('-by a person\n+old text')
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('by a person\n')
    const forced = await hub.undo({ force: true })
    expect(actions(forced)).toEqual(['restored'])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('old text\n')
    await hub.undo({ call: forced.callId })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('by a person\n')
  })

  it('cuts a long diff, and shows none of bytes and secrets', async () => {
    await make(
      ['writeText', 'a.txt', 'tool', { overwrite: true }],
      ['writeText', '.env.local', 'KEY=tool'],
      ['writeBytes', 'd/x.bin', '0100' as never, { overwrite: true }],
    )
    writeFileSync(join(root, 'a.txt'), 'line\n'.repeat(500))
    writeFileSync(join(root, '.env.local'), 'KEY=secret')
    writeFileSync(join(root, 'd/x.bin'), Buffer.from([7, 0]))
    const [bytes, secret, text] = (await hub.undo()).changes
    expect(text!.diff!.split('\n')).toHaveLength(61)
    expect(bytes).not.toHaveProperty('diff')
    expect(secret).not.toHaveProperty('diff')
    expect(secret).toMatchObject({ action: 'refused' })
  })

  it('is reported when it vanished, became a folder or a link, and nothing goes through the link', async () => {
    rmSync(join(root, 'link'))
    await make(...['gone', 'folder', 'link'].map((name) => ['writeText', name, 'by the tool'] as Change))
    await make(...['gone', 'folder', 'link'].map((name) => ['writeText', name, '2', { overwrite: true }] as Change))
    writeFileSync(join(base, 'outside'), '2')
    for (const name of ['gone', 'folder', 'link']) rmSync(join(root, name))
    mkdirSync(join(root, 'folder'))
    symlinkSync('../outside', join(root, 'link'))
    const report = await hub.undo({ force: true })
    expect(report.changes.map(({ action, reason }) => [action, reason])).toEqual([
      ['refused', 'is now a link'],
      ['refused', 'is now a folder'],
      ['restored', undefined],
    ])
    expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('2')
  })

  it('is not touched outside the roots that hold now', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    await hub.endRun(hub.run)
    const narrow = testHub({ runs: join(hub.folder, 'runs'), sandbox: { root: join(root, 'd') } })
    const report = await narrow.undo({ anyRun: true })
    expect(report.changes).toMatchObject([
      { action: 'refused', reason: expect.stringContaining('outside the sandbox') },
    ])
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
    await narrow.close()
  })
})

describe('what is kept', () => {
  const undoFolder = (run = hub.run) => join(hub.folder, 'runs', run, 'undo')

  it('is kept once for equal content', async () => {
    await make(...['1', '2', '3'].map((name) => ['writeText', name, 'same'] as Change))
    await make(...['1', '2', '3'].map((name) => ['remove', name] as Change))
    expect(readdirSync(undoFolder())).toHaveLength(1)
    await hub.undo()
    expect(['1', '2', '3'].map((name) => readFileSync(join(root, name), 'utf8'))).toEqual(['same', 'same', 'same'])
  })

  it('is refused when somebody changed it, also for a dry run and by force', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    const [kept] = readdirSync(undoFolder())
    appendFileSync(join(undoFolder(), kept!), 'tampered')
    for (const options of [{ dryRun: true }, { force: true }, {}]) {
      expect(await hub.undo(options)).toMatchObject({
        changes: [{ action: 'refused', reason: expect.stringContaining('was changed since') }],
      })
    }
    rmSync(join(undoFolder(), kept!))
    expect(await hub.undo()).toMatchObject({ changes: [{ reason: 'The previous content has been deleted.' }] })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
  })

  it('is refused when a kept tree was changed', async () => {
    await make(['remove', 'd', { recursive: true }])
    const [tree] = readdirSync(undoFolder())
    utimesSync(join(undoFolder(), tree!, 'x.bin'), 1, 1)
    for (const dryRun of [true, false]) {
      expect(await hub.undo({ dryRun })).toMatchObject({
        changes: [{ action: 'refused', reason: 'The folder that was kept was changed since.' }],
      })
    }
  })

  it('is bounded, and the caller learns what cannot be undone', async () => {
    await hub.close()
    hub = open({ limits: { undoBytes: 10 } })
    writeFileSync(join(root, 'big'), 'x'.repeat(100))
    const result = await hub.callDynamic('test/change', {
      changes: [
        ['writeText', 'a.txt', 'new', { overwrite: true }],
        ['remove', 'big'],
      ],
    })
    expect(result.meta.notices).toMatchObject([expect.stringMatching(/big.* cannot be undone: .* would not fit/)])
    const report = await hub.undo()
    expect(actions(report)).toEqual(['not undoable', 'restored'])
    expect(report).toMatchObject({ ok: false, changes: [{ reason: expect.stringContaining('would not fit') }, {}] })
    // The record does not say that it was undone, and the next undo goes further back all the same.
    const marks = (await eventsOf(hub)).filter(({ type }) => type === 'change-undone')
    expect(marks.map((event) => 'outcome' in event && event.outcome)).toEqual(['not undoable', false])
    expect(await hub.undo()).toMatchObject({ ok: true, changes: [] })
    expect(await hub.undo({ call: result.callId })).toMatchObject({ ok: false })
  })

  it('is not limited by the budget and the rate of agents, also as a dry run', async () => {
    const limits = { run: { calls: 2 }, session: { calls: 2 }, rate: { perSecond: 0.001, burst: 2 } }
    const spent = open({ runs: join(base, 'runs'), limits })
    const write = (path: string) => spent.callDynamic('test/change', { changes: [['writeText', path, 'new']] })
    expect([await write('one.txt'), await write('two.txt')]).toMatchObject([{ ok: true }, { ok: true }])
    expect(await write('three.txt')).toMatchObject({ ok: false })
    for (let time = 0; time < 6; time++) expect(await spent.undo({ dryRun: true })).toMatchObject({ ok: true })
    expect(actions(await spent.undo())).toEqual(['removed'])
    expect(actions(await spent.undo())).toEqual(['removed'])
    // The undo has used nothing of the budget either, and given nothing back.
    expect(await write('three.txt')).toMatchObject({ ok: false })
    await spent.close()
  })

  it('stops at the first change of another hub in the same folder, unless asked for any run', async () => {
    const runs = join(base, 'runs')
    const first = open({ runs })
    await first.callDynamic('test/change', { changes: [['writeText', 'first.txt', 'new']] })
    await first.close()
    const second = open({ runs })
    await second.callDynamic('test/change', { changes: [['writeText', 'own.txt', 'new']] })
    await second.callDynamic('test/change', { changes: [['writeText', 'named.txt', 'new']] }, { run: 'named' })
    await second.endRun('named')
    expect((await second.undo()).calls).toMatchObject([{ run: 'named' }])
    expect((await second.undo()).calls).toMatchObject([{ run: second.run }])
    expect(await second.undo()).toMatchObject({ ok: true, calls: [], changes: [] })
    expect((await second.undo({ anyRun: true })).calls).toMatchObject([{ run: first.run }])
    await second.close()
  })

  it('serves a run that was opened by another hub before', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    // The first hub still holds its run open.
    const other = testHub({ runs: join(hub.folder, 'runs'), sandbox: { root } })
    expect(await other.undo()).toMatchObject({ changes: [] })
    expect(actions(await other.undo({ anyRun: true }))).toEqual(['restored'])
    expect(await other.undo({ anyRun: true })).toMatchObject({ changes: [] })
    expect(await hub.undo()).toMatchObject({ changes: [] })
    await other.close()
  })
})

describe('the road of an undo', () => {
  it('is a call on record with a journal, in an intact chain', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    const { callId } = await hub.undo({ caller: 'cli:ada' })
    const { run } = hub
    await hub.endRun(run)
    const events = (await eventsOf(hub)).filter((event) => 'callId' in event && event.callId === callId)
    expect(events).toMatchObject([
      { type: 'call-started', tool: 'core/fs.undo', caller: 'cli:ada', targets: [`write:fs ${join(root, 'a.txt')}`] },
      { type: 'file-changing', op: 'replace', path: join(root, 'a.txt') },
      { type: 'change-undone', run },
      { type: 'call-ended', status: 'ok' },
    ])
    expect(await verifyRun(join(hub.folder, 'runs', run))).toMatchObject({ ok: true, problems: [] })
  })

  it('has one start on record, however long it takes', async () => {
    const clock = fakeClock()
    const slow = defineTool({
      name: 'test/slow',
      description: 'Changes a file, then takes its time.',
      input: z.strictObject({}),
      capabilities: ['write:fs'],
      async execute(_, { fs }) {
        await fs.writeText('n.txt', 'n')
        await clock.advance(100)
        return 'done'
      },
    })
    await hub.close()
    hub = open({ tools: [slow], clock })
    const { callId } = await hub.callDynamic('test/slow', {})
    const starts = (await eventsOf(hub)).filter((event) => event.type === 'call-started' && event.callId === callId)
    expect(starts).toHaveLength(1)
  })

  it('is closed to agents: no list shows the tool and no name calls it', async () => {
    expect(hub.list({ hidden: true }).map(({ name }) => name)).not.toContain('core/fs.undo')
    expect(hub.registry.listForLLM().map(({ name }) => name)).not.toContain('core_fs_undo')
    const input = { run: hub.run, paths: [], force: true, dryRun: false }
    expect(await hub.callDynamic('core/fs.undo', input)).toMatchObject({ ok: false, error: { code: 'TOOL_NOT_FOUND' } })
    const options = { callerKind: 'owner' as 'direct' }
    expect(await hub.callDynamic('core/fs.undo', input, options)).toMatchObject({ ok: false })
  })

  it('works under the shipped policy, whatever agents may see, and asks nobody', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }], ['writeText', 'n', 'n'])
    const visibility = { allow: ['nothing'] }
    const asks = [{ ask: 'write:fs' as const }]
    for (const options of [{ visibility }, { policy: asks, approve: () => ({ decision: 'deny' as const }) }]) {
      const strict = testHub({ runs: join(hub.folder, 'runs'), sandbox: { root }, ...options })
      expect((await strict.undo({ anyRun: true, dryRun: true })).ok).toBe(true)
      expect((await strict.undo({ anyRun: true })).ok).toBe(true)
      const redo = await strict.undo({ run: strict.run })
      expect(redo.ok).toBe(true)
      await strict.close()
    }
  })

  it('is denied where a rule denies writing', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    const strict = testHub({ runs: join(hub.folder, 'runs'), sandbox: { root }, policy: [{ deny: 'write:fs' }] })
    await expect(strict.undo({ anyRun: true })).rejects.toMatchObject({ code: 'POLICY_DENIED' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
    await strict.close()
  })

  it('finds the files of a run with a workspace of its own', async () => {
    await hub.close()
    hub = open({ sandbox: {} })
    await make(['writeText', 'n.txt', 'n'])
    const workspace = join(hub.folder, 'runs', hub.run, 'workspace')
    await hub.endRun(hub.run)
    const other = testHub({ runs: join(hub.folder, 'runs') })
    expect(await other.undo({ anyRun: true })).toMatchObject({
      ok: true,
      run: hub.run,
      changes: [{ action: 'removed' }],
    })
    expect(readdirSync(workspace)).toEqual([])
    await other.close()
  })

  it('refuses a record that was changed, an unknown call and an unknown run', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    await expect(hub.undo({ call: 'c-none' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(hub.undo({ run: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(hub.undo({ run: '../x' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    const { run } = hub
    await hub.endRun(run)
    const file = join(hub.folder, 'runs', run, 'events.jsonl')
    writeFileSync(file, readFileSync(file, 'utf8').replace('"op":"replace"', '"op":"replacf"'))
    await expect(hub.undo({ run })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
  })

  it('has nothing to undo without records', async () => {
    const bare = testHub({ runs: false, sandbox: { root } })
    await expect(bare.undo()).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await bare.close()
  })

  it('stops when its signal is aborted', async () => {
    await make(['writeText', 'a.txt', 'new', { overwrite: true }])
    await expect(hub.undo({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' })
    expect(readFileSync(join(root, 'a.txt'), 'utf8')).toBe('new')
    expect(actions(await hub.undo())).toEqual(['restored'])
  })
})
