import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../../../test/support/temporary-folder.ts'
import type { ApprovalReply } from '../../core/src/events.ts'
import type { HubOptions } from '../../core/src/options.ts'
import { defineTool } from '../../core/src/tool.ts'
import { fakeClock } from '../../testing/src/fake-clock.ts'
import type { ScriptResult } from './types.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A hub on a folder with its store; several hubs on one folder are like several processes. */
function open(options: HubOptions = {}, folder = temporaryFolder('code'), { hangs = false } = {}) {
  const done: string[] = []
  const pause = defineTool({
    name: 'test.pause',
    description: 'Waits, in some hubs for ever.',
    input: z.strictObject({}),
    execute: async () => {
      done.push('pause')
      if (hangs) await new Promise(() => {})
      return {}
    },
  })
  const act = (name: string, results: 'own' | 'outside') =>
    defineTool({
      name,
      description: 'Does something that cannot be undone.',
      input: z.strictObject({ what: z.string() }),
      capabilities: ['remote'],
      targets: ({ what }) => ({ remote: `act:${what}` }),
      results,
      execute: ({ what }) => {
        done.push(what)
        return { did: what, padding: what.startsWith('long') ? 'x'.repeat(5_000) : '' }
      },
    })
  const store = openStore(join(folder, 'store'))
  const hub = createToolHub({
    runs: join(folder, 'runs'),
    data: join(folder, 'data'),
    store,
    tools: [act('test.act', 'own'), act('test.read', 'outside'), pause],
    policy: [
      { allow: 'remote' },
      { ask: 'remote', on: 'act:ask*' },
      { ask: 'remote', on: 'act:clean*', when: { tainted: true } },
    ],
    approvals: { inbox: true },
    code: { suspendAfterMs: 0 },
    ...options,
  })
  closing.push(async () => {
    await hub.close()
    await store.close()
  })
  const call = (tool: string, input: object, more: object = {}) =>
    hub.callDynamic(tool, input, { run: 'r1', caller: 'agent', ...more })
  const result = async (tool: string, input: object, more?: object) => {
    const { ok, error, data } = await call(tool, input, more)
    // The call of a script that failed has its result, too.
    if (!ok && data === undefined) throw error
    return data as ScriptResult
  }
  return {
    hub,
    store,
    folder,
    done,
    call,
    run: (code: string, more?: object) => result('core/code.run', { code }, more),
    wait: (script: string, timeoutMs = 60_000) => result('core/code.wait', { script, timeoutMs }),
    async answer(approvals: readonly string[] = [], reply: Omit<ApprovalReply, 'decision'> = {}) {
      for (const id of approvals) await hub.approvals.answer(id, { decision: 'allow', by: 'ada', ...reply })
    },
  }
}

it('makes no call any more once it is suspended', async () => {
  const { run, wait, answer, done } = open()
  const chain = "(async () => { for (let n = 0; n < 20; n++) await tools.test.act({ what: 'step ' + n }) })()"
  const code = `await Promise.all([tools.test.act({ what: 'ask a' }), ${chain}])`
  let result = await run(code)
  for (let round = 0; result.status === 'suspended' && round < 50; round++) {
    const made = done.length
    const ended = result.calls.filter(({ status }) => status === 'ok').length
    expect(made).toBe(ended)
    expect(result.calls.filter(({ status }) => status === 'running')).toEqual([])
    await answer(result.approvals)
    result = await wait(result.script)
  }
  expect(result.status).toBe('completed')
  expect(done.toSorted()).toEqual(['ask a', ...Array.from({ length: 20 }, (_, n) => `step ${n}`)].toSorted())
})

it('says so when a stored answer is gone', async () => {
  const { run, wait, answer, folder, done } = open()
  const suspended = await run("await tools.test.act({ what: 'long a' })\nawait tools.test.act({ what: 'ask b' })")
  rmSync(join(folder, 'runs', 'r1', 'artifacts'), { recursive: true })
  await answer(suspended.approvals)
  expect(await wait(suspended.script)).toMatchObject({
    status: 'failed',
    kind: 'ENGINE_CRASH',
    message: expect.stringContaining('call 1'),
    hint: expect.any(String),
  })
  expect(done).toEqual(['long a'])
})

it('does not go on after an answer that could not be stored, and can be continued when the store works again', async () => {
  const { run, wait, answer, store, done, call } = open()
  const code = "await tools.test.act({ what: 'ask a' })\nawait tools.test.act({ what: 'b' })\nreturn 'end'"
  const suspended = await run(code)
  await answer(suspended.approvals)
  const failing = vi.spyOn(store.scripts, 'append').mockImplementation(() => {
    throw new Error('The disk is full.')
  })
  const failed = await call('core/code.wait', { script: suspended.script })
  expect(failed.ok).toBe(false)
  expect(done).toEqual(['ask a'])
  failing.mockRestore()
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed', value: 'end' })
  expect(done).toEqual(['ask a', 'b'])
})

it('goes no further in a process that has lost it to another, and leaves nothing of that in the store', async () => {
  const { run, answer, store, done, call } = open()
  const code = "await tools.test.act({ what: 'ask a' })\nawait tools.test.act({ what: 'b' })\nreturn 'end'"
  const { script: id, approvals } = await run(code)
  await answer(approvals)
  const { append } = store.scripts
  vi.spyOn(store.scripts, 'append').mockImplementationOnce(async (...values) => {
    const { owner, ...script } = (await store.scripts.find(id))!
    await store.scripts.change({ ...script, from: owner!, owner: 'another process', at: 1 })
    return append.apply(store.scripts, values)
  })
  expect((await call('core/code.wait', { script: id })).error).toMatchObject({ code: 'RUN_MOVED' })
  expect(done).toEqual(['ask a'])
  expect(await store.scripts.lines(id)).toEqual([])
  expect(await store.scripts.find(id)).toMatchObject({ status: 'running', owner: 'another process' })
})

it('asks again when the request has expired while it was suspended', async () => {
  const approvals = { inbox: true, timeoutMs: 60_000 }
  const start = Date.UTC(2026, 0, 1)
  const first = open({ clock: fakeClock(start), approvals })
  const suspended = await first.run("await tools.test.act({ what: 'ask a' })")
  await first.hub.close()
  const { wait, answer, done } = open({ clock: fakeClock(start + 61_000), approvals }, first.folder)
  const again = await wait(suspended.script, 0)
  expect(again).toMatchObject({ status: 'suspended', approvals: [expect.any(String)] })
  expect(again.approvals).not.toEqual(suspended.approvals)
  await answer(again.approvals)
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed' })
  expect(done).toEqual(['ask a'])
})

it.each([
  ['soon', 19, 'completed'],
  ['after a day', 21, 'failed'],
] as const)(
  'is continued %s after its process was killed only if keys still keep calls from being made twice',
  async (_, hours, status) => {
    const start = Date.UTC(2026, 0, 1)
    const approvals = { inbox: true, timeoutMs: 7 * 86_400_000 }
    const first = open({ clock: fakeClock(start), approvals })
    const { script, approvals: asked } = await first.run("await tools.test.act({ what: 'ask a' })")
    await first.answer(asked)
    const killed = { id: script, from: null, status: 'running', owner: 'a process that was killed' } as const
    await first.store.scripts.change({ ...killed, approvals: asked!, at: start })
    await first.hub.close()
    const { wait, done } = open({ clock: fakeClock(start + hours * 3_600_000), approvals }, first.folder)
    const ended = await wait(script)
    expect(ended).toMatchObject({ status, ...(status === 'failed' && { kind: 'ENGINE_CRASH' }) })
    expect(done).toEqual(status === 'failed' ? [] : ['ask a'])
    expect(await wait(script)).toEqual(ended)
  },
)

it('takes back its requests when it is cancelled', async () => {
  const { run, store, call } = open()
  const { script, approvals } = await run("await tools.test.act({ what: 'ask a' })")
  await call('core/code.cancel', { script })
  expect((await store.approvals.find(approvals![0]!))?.state).toBe('withdrawn')
})

it('is tainted by what it has read before, also if somebody has cleared the run since', async () => {
  const { run, wait, answer, hub, done } = open()
  const code = `const { did } = await tools.test.read({ what: 'page' })
await tools.test.act({ what: 'ask a' })
await tools.test.act({ what: 'clean ' + did })`
  const suspended = await run(code)
  await hub.clearTaint('r1', { by: 'ada', reason: 'It is harmless.' })
  await answer(suspended.approvals)
  const again = await wait(suspended.script)
  expect(again).toMatchObject({ status: 'suspended' })
  expect(done).toEqual(['page', 'ask a'])
})

it('labels the result of a continued script that has read content from outside', async () => {
  const first = open()
  const suspended = await first.run(
    "const { did } = await tools.test.read({ what: 'page' })\nawait tools.test.act({ what: 'ask a' })\nreturn did",
  )
  await first.hub.close()
  const { answer, call } = open({}, first.folder)
  await answer(suspended.approvals)
  const { meta } = await call('core/code.wait', { script: suspended.script })
  expect(meta.labels).toEqual(['untrusted'])
})

it('knows a refusal from before it was suspended', async () => {
  const { run, wait, answer } = open({
    policy: [{ allow: 'remote' }, { ask: 'remote', on: 'act:ask*' }, { deny: 'remote', on: 'act:deny*' }],
  })
  const code =
    "let no\nawait tools.test.act({ what: 'deny' }).catch((error) => { no = error })\nawait tools.test.act({ what: 'ask a' })\nthrow no"
  const suspended = await run(code)
  await answer(suspended.approvals)
  expect(await wait(suspended.script)).toMatchObject({ status: 'failed', kind: 'POLICY_DENIED' })
})

it('runs with the arguments that the approver has changed', async () => {
  const { run, wait, answer, done } = open()
  const suspended = await run(
    "const { did } = await tools.test.act({ what: 'ask a' })\nawait tools.test.act({ what: 'ask ' + did })\nreturn did",
  )
  await answer(suspended.approvals, { input: { what: 'b' } })
  const next = await wait(suspended.script)
  await answer(next.approvals)
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed', value: 'b' })
  expect(done).toEqual(['b', 'ask b'])
})

it.each([
  ['one after the other', "await tools.test.act({ what: 'ask a' }); await tools.test.act({ what: 'ask a' })"],
  ['at the same time', "await Promise.all([tools.test.act({ what: 'ask a' }), tools.test.act({ what: 'ask a' })])"],
])('makes the same call twice if the script does, each with an approval of its own: %s', async (_, code) => {
  const { run, wait, store, hub, done } = open()
  let result = await run(code)
  let answers = 0
  for (let round = 0; result.status === 'suspended' && round < 5; round++) {
    for (const id of result.approvals ?? [])
      if (
        (await store.approvals.find(id))?.state === 'waiting' &&
        (await hub.approvals.answer(id, { decision: 'allow', by: 'ada' }))
      )
        answers++
    result = await wait(result.script)
  }
  expect(result.status).toBe('completed')
  expect(done).toEqual(['ask a', 'ask a'])
  expect(answers).toBe(2)
})

it('uses an answer that is remembered, also in another process', async () => {
  const first = open()
  const suspended = await first.run("for (let n = 0; n < 3; n++) await tools.test.act({ what: 'ask a' })")
  await first.hub.close()
  const { answer, wait, done } = open({}, first.folder)
  await answer(suspended.approvals, { remember: 'always' })
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed' })
  expect(done).toEqual(['ask a', 'ask a', 'ask a'])
})

it('is over when its call is aborted while it waits', async () => {
  const { call, store, done } = open({ code: { suspendAfterMs: 60_000 } })
  const stop = new AbortController()
  const running = call('core/code.run', { code: "await tools.test.act({ what: 'ask a' })" }, { signal: stop.signal })
  await expect.poll(async () => (await store.approvals.list({ state: 'waiting' })).length).toBe(1)
  stop.abort()
  expect(await running).toMatchObject({ ok: false, error: { code: 'ABORTED' } })
  await expect.poll(async () => (await store.approvals.list({})).map(({ state }) => state)).toEqual(['withdrawn'])
  expect(done).toEqual([])
})

it('is suspended when the hub closes, and continues in another one', async () => {
  const first = open({ code: { suspendAfterMs: 60_000 } })
  const running = first.run("return (await tools.test.act({ what: 'ask a' })).did")
  await expect.poll(async () => (await first.store.approvals.list({ state: 'waiting' })).length).toBe(1)
  await first.hub.close()
  const suspended = await running
  expect(suspended).toMatchObject({ status: 'suspended' })
  const { answer, wait, done } = open({}, first.folder)
  await answer(suspended.approvals)
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed', value: 'ask a' })
  expect(done).toEqual(['ask a'])
})

it('stays when its hub is closed while it runs on, and when the call that continues it is aborted', async () => {
  const first = open({}, undefined, { hangs: true })
  const suspended = await first.run("await tools.test.act({ what: 'ask a' })\nawait tools.test.pause({})\nreturn 'end'")
  await first.answer(suspended.approvals)
  const stop = new AbortController()
  const aborted = first.call('core/code.wait', { script: suspended.script }, { signal: stop.signal })
  await expect.poll(() => first.done).toEqual(['ask a', 'pause'])
  stop.abort()
  expect((await aborted).error).toMatchObject({ code: 'ABORTED' })
  const closed = first.call('core/code.wait', { script: suspended.script })
  await expect.poll(() => first.done).toEqual(['ask a', 'pause', 'pause'])
  await first.hub.close({ abort: true })
  expect((await closed).error).toMatchObject({ code: 'ABORTED' })
  const { wait, done } = open({}, first.folder)
  expect(await wait(suspended.script)).toMatchObject({ status: 'completed', value: 'end' })
  expect(done).toEqual(['pause'])
})

it('keeps one end of each call in the records', async () => {
  const { run, wait, answer, hub, folder } = open()
  const suspended = await run("await Promise.all([tools.test.act({ what: 'ask a' }), tools.test.act({ what: 'b' })])")
  await answer(suspended.approvals)
  await wait(suspended.script)
  await hub.endRun('r1')
  const file = join(folder, 'runs', 'r1', 'events.jsonl')
  const events = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const ends = events.filter(({ type }) => type === 'call-ended').map(({ callId }) => callId)
  expect(new Set(ends).size).toBe(ends.length)
})
