import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished } from 'vitest'
import { SharedCheck } from '../packages/cluster/src/records/verify-shared.ts'
import { pruneRuns } from '../packages/runtime/src/hub/prune-runs.ts'
import { killProcesses, LEASE_MS, newCluster } from './support/cluster-processes.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'
import { addLine, sharedHub } from './support/shared-hub.ts'
import { soon } from './support/soon.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

let server: TestPostgres
let clusters = 0
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())
afterEach(killProcesses)

function newPostgresCluster(shared: Omit<Parameters<typeof newCluster>[0] & object, 'database'> = {}) {
  return newCluster({ database: { url: server.url, schema: `features_${++clusters}` }, ...shared })
}

const WITHIN = { timeout: 100_000, interval: 50 }

it('three processes fire each schedule once, and what a killed one had claimed is run by another', async () => {
  const { start, pass, effects } = newPostgresCluster({ options: { schedules: { parallel: 1 } } })
  const processes = await Promise.all([start(), start(), start()])
  for (const each of processes) await each.do('schedules.start')
  const add = (tool: string, what: string) =>
    soon(
      (at) => processes[0]!.do('schedules.add', { name: what, when: { at }, calls: [{ tool, input: { what } }] }),
      400,
    )
  const names = Array.from({ length: 12 }, (_, n) => `early-${n}`)
  for (const name of names) await add('test.effect', name)
  await expect.poll(() => effects().length, WITHIN).toBeGreaterThanOrEqual(12)
  await add('test.hang', 'hang')
  await expect.poll(() => effects().find((line) => line.startsWith('hang')), WITHIN).toBeDefined()
  const victim = processes.find(({ id }) => effects().includes(`hang ${id}`))!
  const others = processes.filter((each) => each !== victim)
  // These wait behind the one that hangs, in the process that will be killed.
  for (const each of others) await each.do('schedules.stop')
  const later = Array.from({ length: 12 }, (_, n) => `late-${n}`)
  for (const name of later) await add('test.effect', name)
  const statesOf = (status: string) =>
    Number(server.sql(`SELECT COUNT(*) FROM features_${clusters}.schedule_runs WHERE status = '${status}'`))
  await expect.poll(() => statesOf('waiting'), WITHIN).toBe(12)
  await victim.kill()
  await pass(LEASE_MS, others)
  for (const each of others) await each.do('schedules.start')
  await expect.poll(() => statesOf('ok'), WITHIN).toBe(24)
  await expect.poll(() => statesOf('interrupted'), WITHIN).toBe(1)
  expect(effects().sort()).toEqual([...names, ...later, `hang ${victim.id}`].sort())
  expect(await others[0]!.do('schedules.find', 'hang')).toMatchObject({ runs: 1, lastStatus: 'interrupted' })
})

it('a script is continued on another machine after its process was killed, and no call is made twice', async () => {
  const options = { approvals: { inbox: true }, code: { suspendAfterMs: 50 } }
  const { start, pass, effects } = newPostgresCluster({ options })
  const [a, b, c] = await Promise.all([start(), start(), start()])
  const code = `
    const first = await tools.test.effect({ what: 'first' + 'x'.repeat(50000) })
    await tools.test.asked({ what: 'second' })
    const [third, fourth] = await Promise.all([
      tools.test.effect({ what: 'third' }), tools.test.hang({ what: 'hang' }).catch(({ code }) => code),
    ])
    return { length: first.length, third, fourth }`
  const ran = await a.send('call', { tool: 'core/code.run', input: { code } })
  expect(ran).toMatchObject({ ok: true, data: { status: 'suspended', approvals: [expect.any(String)] } })
  const { script, approvals } = ran.data
  await a.kill()
  await pass(LEASE_MS, [b, c])
  expect(await c.do('approvals.answer', approvals[0], { decision: 'allow', by: 'ada' })).toBe(true)
  await b.send('call', { tool: 'core/code.wait', input: { script }, isAwaited: false })
  await expect.poll(() => effects().slice(1).sort(), WITHIN).toEqual([`hang ${b.id}`, 'second', 'third'])
  expect(await c.send('call', { tool: 'core/code.wait', input: { script } })).toMatchObject({ code: 'RUN_ELSEWHERE' })
  await expect.poll(() => server.sql(`SELECT COUNT(*) FROM features_${clusters}.script_calls`).trim(), WITHIN).toBe('3')
  await b.kill()
  await pass(LEASE_MS, [c])
  const ended = await c.send('call', { tool: 'core/code.wait', input: { script } })
  expect(ended).toMatchObject({ ok: true, data: { status: 'completed' } })
  // Whether the call that was under way has had its effect is unknown, so it is not made again.
  expect(ended.data.value).toEqual({ length: 50_005, third: 'third', fourth: expect.any(String) })
  expect(effects()).toHaveLength(4)
  expect(effects().slice(1).sort()).toEqual([`hang ${b.id}`, 'second', 'third'])
})

it('a webhook gets each request once from two processes, and again only from one that was killed while it sent it', async () => {
  const got: { readonly approval: string; readonly from: string; readonly isAnswered: boolean }[] = []
  let isHanging = false
  const receiver = createServer(async (request, response) => {
    const body = JSON.parse((await request.setEncoding('utf8').toArray()).join(''))
    got.push({ approval: body.approval.id, from: new URL(body.answerUrl).host, isAnswered: !isHanging })
    if (!isHanging) response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    receiver.closeAllConnections()
    receiver.close()
  })
  await once(receiver, 'listening')
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const hook = { url, secret: 'a-secret-of-more-than-24-characters' }
  const { start, pass } = newPostgresCluster({ hook, options: { approvals: { inbox: true } } })
  const [a, b] = await Promise.all([start(), start()])
  const ask = (process: typeof a, what: string) =>
    process.send('call', { tool: 'test.asked', input: { what }, run: `run-${what}`, isAwaited: false })
  for (let n = 0; n < 10; n++) await ask(n % 2 === 0 ? a : b, `early-${n}`)
  await expect.poll(() => got.length, WITHIN).toBeGreaterThanOrEqual(10)
  isHanging = true
  await ask(a, 'hang')
  await expect.poll(() => got.length, WITHIN).toBe(11)
  const { from, approval } = got[10]!
  const [victim, other] = from === a.id ? [a, b] : [b, a]
  await victim!.kill()
  isHanging = false
  await pass(61_000, [other!])
  await ask(other!, 'late')
  await expect.poll(() => got.length, WITHIN).toBe(13)
  expect(got.slice(11).map((each) => each.from)).toEqual([other!.id, other!.id])
  const counts = new Map<string, number>()
  for (const each of got) counts.set(each.approval, (counts.get(each.approval) ?? 0) + 1)
  expect([...counts.values()].sort()).toEqual([...Array(11).fill(1), 2])
  expect(counts.get(approval)).toBe(2)
})

it('notes for review, canvases, sessions and mail are the same on all machines, and stay when one is gone', async () => {
  const { start, pass } = newPostgresCluster()
  const [a, b] = await Promise.all([start(), start()])
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  const call = (process: typeof a, tool: string, input: object) =>
    process.send('call', { tool, input, run: process.id })
  const writeAll = async (process: typeof a) => {
    for (const n of numbers) {
      const written = await call(process, 'core/memory.write', { content: `Fact ${n}`, scope: 'shared' })
      expect(written).toMatchObject({ ok: true, data: { state: 'candidate' } })
    }
  }
  await Promise.all([writeAll(a), writeAll(b)])
  const plan = { action: 'present', canvas: 'plan', kind: 'markdown', content: '# Plan' }
  const drawn = await call(a, 'core/canvas', plan)
  expect(await call(a, 'core/session.status', {})).toMatchObject({ ok: true })
  const sendAll = async (process: typeof a) => {
    for (const n of numbers) await process.do('sessions.send', a.id, { text: `${process.id} ${n}`, by: 'ada' })
  }
  await Promise.all([sendAll(a), sendAll(b)])
  const { data: status } = await call(a, 'core/session.status', {})
  const texts = [a, b].flatMap(({ id }) => numbers.map((n) => `${id} ${n}`))
  expect(status.messages.map(({ text }: { text: string }) => text).sort()).toEqual(texts.sort())

  const [first, ...others] = await b.do('memory.candidates')
  expect(others).toHaveLength(19)
  const promote = (process: typeof a) => process.do('memory.promote', first.id, { by: process.id })
  const promoted = await Promise.allSettled([promote(a), promote(b)])
  expect(promoted.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])

  await a.kill()
  await pass(LEASE_MS, [b])
  expect(await b.do('memory.candidates', { run: a.id })).not.toHaveLength(0)
  expect(await b.do('memory.candidates')).toHaveLength(19)
  expect(await b.do('canvas.content', drawn.data.canvas.id)).toMatchObject({ text: '# Plan' })
  const { sessions } = await b.do('sessions.list', { state: 'ended' })
  const ended = sessions.filter(({ id }: { id: string }) => id === a.id)
  expect(ended).toMatchObject([{ state: 'ended', reason: expect.stringMatching(/process.*gone/) }])
  const { entries } = await b.do('sessions.history', a.id, { limit: 200 })
  const calls = entries.filter(({ type }: { type: string }) => type === 'call')
  expect(calls).toHaveLength(13)
})

it('retention removes no run that another machine has or has continued, and nothing is left of one that it removes', async () => {
  const base = temporaryFolder('cluster-retention')
  const schema = `features_${++clusters}`
  const machines = ['one', 'two'].map((name) => {
    const [folder, store] = [join(base, name), openPostgresStore(server.url, { schema })]
    const hub = sharedHub(folder, store, { sandbox: { root: base }, run: `own-${name}` })
    onTestFinished(async () => {
      await hub.close()
      await store.close()
    })
    const write = (run: string) => hub.call(addLine, { path: 'a.txt', line: name }, { run })
    const prune = (onRecord: (run: string) => Promise<void> = async () => {}) =>
      pruneRuns({
        ...{
          keepMs: -60_000,
          runsFolder: join(folder, 'runs'),
          store,
          retention: hub.retention,
        },
        ...{ by: 'retention', now: Date.now(), except: [hub.run] },
        async record(change) {
          await onRecord(change.subject)
          await hub.recordChange(change)
        },
      })
    return { hub, store, write, prune }
  })
  const [one, two] = machines as [(typeof machines)[0], (typeof machines)[0]]
  for (const run of ['moved', 'mine']) {
    expect(await one.write(run)).toMatchObject({ ok: true })
    await one.hub.endRun(run)
  }
  expect(await two.write('moved')).toMatchObject({ ok: true })
  let late: unknown
  const first = await one.prune(async (run) => {
    late = await two.write(run)
  })
  expect(first).toMatchObject({
    removed: [{ run: 'mine' }],
    kept: [{ run: 'moved', why: expect.stringContaining('is open in process') }],
  })
  expect(late).toMatchObject({ ok: false, error: { code: 'RUN_ELSEWHERE', retryable: true } })
  expect(await two.store.segments.heads({ run: 'mine' })).toEqual([])
  expect(await two.store.runStates.find('mine')).toBe(undefined)
  expect(await two.write('mine')).toMatchObject({ ok: true })
  expect(await two.store.runStates.find('mine')).toMatchObject({ epoch: 1 })

  for (const run of ['moved', 'mine']) await two.hub.endRun(run)
  expect(await one.prune()).toMatchObject({
    removed: [],
    kept: [{ run: 'moved', why: expect.stringContaining('was continued on another machine') }],
  })
  const verify = async () => {
    const check = await SharedCheck.open({ source: { segments: one.store.segments }, heads: one.store.heads })
    return Promise.all(['moved', 'mine'].map(async (run) => (await check.verify(run)).problems))
  }
  expect(await verify()).toEqual([[], []])
  expect((await two.prune()).removed.map(({ run }) => run).sort()).toEqual(['mine', 'moved'])
  expect(await one.prune()).toMatchObject({ removed: [{ run: 'moved' }], kept: [] })
  expect(await one.store.segments.heads()).toMatchObject([{ run: 'own-one' }, { run: 'own-two' }])
})
