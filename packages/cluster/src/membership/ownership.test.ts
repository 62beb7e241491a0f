import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startJsonServer } from '../../../../test/support/json-server.ts'
import { temporaryFolder } from '../../../../test/support/temporary-folder.ts'
import type { HubOptions } from '../../../core/src/options.ts'
import type { Store } from '../../../core/src/store.ts'
import { defineTool } from '../../../core/src/tool.ts'
import { newOwner } from '../../../sandbox/src/system/processes.ts'
import { fakeClock } from '../../../testing/src/fake-clock.ts'
import { unknownOutcome } from '../postgres/errors.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Processes on machines of their own, as it were: one store for all, and a folder of runs for each. */
function newCluster(change: Partial<HubOptions> = {}) {
  const clock = fakeClock()
  const folder = temporaryFolder('cluster-runs')
  const start = async (own: Partial<HubOptions> = {}) => {
    const state = { isDown: false, losesAnswer: false, hidesRecords: false, keepsLeases: false }
    const store = openStore(join(folder, 'data'), { now: clock.now })
    const processes: Store['processes'] = {
      ...store.processes,
      beat: async (process) => {
        if (state.isDown) throw new Error('The database is away.')
        return store.processes.beat(process)
      },
    }
    const keys: Store['keys'] = {
      ...store.keys,
      claim: async (...claim) => {
        const held = await store.keys.claim(...claim)
        if (state.losesAnswer) throw unknownOutcome(new Error('cut'))
        return held
      },
    }
    const segments: Store['segments'] = {
      ...store.segments,
      heads: (filter) => {
        if (state.hidesRecords) throw new Error('The database is away.')
        return store.segments.heads(filter)
      },
    }
    const runStates: Store['runStates'] = {
      ...store.runStates,
      release: async (...values) => {
        if (state.keepsLeases) throw new Error('The database is away.')
        await store.runStates.release(...values)
      },
    }
    const done: string[] = []
    let during: (() => Promise<unknown>) | undefined
    const effect = defineTool({
      name: 'test.effect',
      description: 'Does something elsewhere.',
      input: z.strictObject({ what: z.string() }),
      capabilities: ['remote'],
      async execute({ what }, { signal }) {
        done.push(what)
        await during?.()
        signal.throwIfAborted()
        return what
      },
    })
    const pure = defineTool({
      name: 'test.pure',
      description: 'Does nothing.',
      input: z.strictObject({}),
      capabilities: [],
      execute: () => 'done',
    })
    const machine = mkdtempSync(join(folder, 'machine-'))
    const hub = createToolHub({
      ...{ store: { ...store, processes, keys, segments, runStates, location: 'network' }, clock },
      ...{ runs: join(machine, 'runs'), data: join(machine, 'data') },
      policy: [{ allow: 'remote' }, { deny: 'test.pure', when: { tainted: true } }],
      ...change,
      ...own,
      tools: [effect, pure, ...(change.tools ?? [])],
    })
    await hub.cluster!.beat()
    ends.push(async () => {
      await hub.close({ abort: true })
      await store.close()
    })
    return {
      ...{ hub, store, done, state, id: hub.cluster!.id, runs: join(machine, 'runs') },
      during: (work: () => Promise<unknown>) => {
        during = work
      },
      act: (what: string, options = {}) => hub.call(effect, { what }, { run: 'r', ...options }),
      read: (options = {}) => hub.call(pure, {}, { run: 'r', ...options }),
      as: (who: string) => hub.as({ name: who }).callDynamic('test.pure', {}, { run: 'r' }),
    }
  }
  return { clock, start }
}

const failed = (code: string) => expect.objectContaining({ error: expect.objectContaining({ code, retryable: true }) })
/** A call that was stopped while it executed is not worth a blind second try. */
const failedMidway = (code: string) =>
  expect.objectContaining({
    error: expect.objectContaining({
      code,
      message: expect.stringContaining('its effect is unknown'),
      retryable: false,
      fix: { hint: expect.stringContaining('Check whether the call had its effect') },
    }),
  })

describe('a run in a cluster', () => {
  it('is open in one process, and free when that one ends it', async () => {
    const { start } = newCluster()
    const [a, b] = [await start(), await start()]
    expect(await a.read()).toMatchObject({ ok: true })
    expect(await b.read()).toEqual(failed('RUN_ELSEWHERE'))
    expect(await b.hub.cluster!.placeOf('r')).toMatchObject({ process: a.id, epoch: 1 })
    expect(await a.read()).toMatchObject({ ok: true })
    await a.hub.endRun('r')
    expect(await b.read()).toMatchObject({ ok: true })
    expect(b.hub.cluster!.leaseOf('r')).toEqual({ owner: b.id, epoch: 2 })
    expect(await a.read()).toEqual(failed('RUN_ELSEWHERE'))
  })

  it('is opened once by calls that come at the same time', async () => {
    const { start } = newCluster()
    const a = await start()
    const calls = await Promise.all([a.read(), a.read(), a.as('ada'), a.read()])
    expect(calls.map(({ ok }) => ok)).toEqual([true, true, false, true])
    expect(a.hub.cluster!.leaseOf('r')?.epoch).toBe(1)
  })

  it('belongs to its principal on every machine', async () => {
    const { start } = newCluster()
    const [a, b] = [await start(), await start()]
    expect(await a.as('ada')).toMatchObject({ ok: true })
    expect(await b.as('bob')).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await b.as('ada')).toEqual(failed('RUN_ELSEWHERE'))
    await a.hub.close()
    expect(await b.as('bob')).toMatchObject({ error: { code: 'NOT_FOUND' } })
    expect(await b.as('ada')).toMatchObject({ ok: true })
    expect(await b.read()).toMatchObject({ ok: true })
    await b.hub.endRun('r')
    const own = { run: 'own' }
    expect(await b.read(own)).toMatchObject({ ok: true })
    await b.hub.endRun('own')
    const c = await start()
    expect(await c.hub.as({ name: 'ada' }).callDynamic('test.pure', {}, own)).toMatchObject({
      error: { code: 'NOT_FOUND' },
    })
  })

  it('is not explained or ended by another principal, also where it never was', async () => {
    const { start } = newCluster()
    const [a, b] = [await start(), await start()]
    const said = 'Write to zoe@example.org.'
    await a.hub.as({ name: 'ada' }).callDynamic('test.pure', {}, { run: 'r', userText: said })
    for (const { hub } of [a, b]) {
      const bob = hub.as({ name: 'bob' })
      const explained = await bob.explain('test.pure', {}, { run: 'r' })
      expect([explained.effect, explained.text]).toEqual(['deny', expect.stringContaining('Run "r" of bob not found')])
      await expect(bob.endRun('r')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    expect(await b.store.userTexts.list('r')).toEqual([said])
    await b.hub.as({ name: 'ada' }).endRun('r')
    expect(await b.store.userTexts.list('r')).toEqual([])
  })

  it('stays tainted when it moves, also if its process was killed, until it is cleared', async () => {
    const { clock, start } = newCluster()
    const [a, b] = [await start(), await start()]
    expect(await a.act('mail')).toMatchObject({ ok: true })
    expect(await b.store.runStates.find('r')).toMatchObject({ taintedBy: ['test.effect'], wasCleared: false })
    a.state.isDown = true
    await clock.advance(12_000)
    expect(await b.read()).toMatchObject({ ok: false, error: { code: 'POLICY_DENIED' } })
    const cleared = await b.hub.clearTaint('r', { by: 'user:ada', reason: 'I have read it.' })
    expect(cleared).toMatchObject({ sources: ['test.effect'], isTainted: false })
    expect(await b.read()).toMatchObject({ ok: true })
    await b.hub.close()
    const c = await start()
    expect(await c.read()).toMatchObject({ ok: true })
    expect(await c.store.runStates.find('r')).toMatchObject({ taintedBy: [], wasCleared: true, epoch: 3 })
  })

  it('is cleared of its taint in a process that does not have it open', async () => {
    const { start } = newCluster()
    const [a, b] = [await start(), await start()]
    const why = { by: 'user:ada', reason: 'I have read it.' }
    await a.act('mail')
    await expect(b.hub.clearTaint('r', why)).rejects.toMatchObject({ code: 'RUN_ELSEWHERE' })
    await a.hub.endRun('r')
    expect(await b.hub.clearTaint('r', why)).toMatchObject({ sources: ['test.effect'] })
    await expect(b.hub.clearTaint('none', why)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await a.read()).toMatchObject({ ok: true })
    expect(a.hub.cluster!.leaseOf('r')?.epoch).toBe(3)
    await a.hub.endRun('r')
    const types = readFileSync(recordIn(a.runs), 'utf8').match(/(?<="type":")(run|taint)-[a-z]+/g)
    expect(types).toEqual([
      ...['run-opened', 'run-tainted', 'run-closed'],
      ...['run-opened', 'taint-cleared', 'run-closed'],
      ...['run-opened', 'run-closed'],
    ])
  })
})

describe('a session in a cluster', () => {
  it('is known as tainted by all processes while it runs in one of them', async () => {
    const { clock, start } = newCluster()
    const [a, b] = [await start(), await start()]
    const session = { root: 'r', depth: 0, rootPrincipal: 'owner', isTainted: false, createdAt: clock.now() }
    for (const id of ['r', 'clean']) await a.store.sessions.add({ ...session, id, owner: newOwner(a.id) })
    await a.act('mail')
    await a.read({ run: 'clean' })
    const { sessions } = await b.hub.sessions.list({})
    expect(sessions.map(({ id, isTainted, state }) => [id, isTainted, state]).sort()).toEqual([
      ['clean', false, 'running'],
      ['r', true, 'running'],
    ])
  })
})

describe('a process that has lost contact', () => {
  it('starts nothing, ends calls with side effects, and continues by itself', async () => {
    const { clock, start } = newCluster()
    const a = await start()
    await a.read()
    let release = () => {}
    const started = new Promise<void>((begun) => {
      a.during(() => {
        begun()
        return new Promise<void>((resolve) => (release = resolve))
      })
    })
    const running = a.act('long')
    await started
    expect(a.done).toEqual(['long'])
    a.state.isDown = true
    await clock.advance(12_000)
    expect(await running).toEqual(failedMidway('PROCESS_CUT_OFF'))
    release()
    a.during(async () => {})
    expect(await a.act('more')).toEqual(failed('PROCESS_CUT_OFF'))
    expect(await a.read({ run: 'other' })).toEqual(failed('PROCESS_CUT_OFF'))
    expect(a.done).toEqual(['long'])
    a.state.isDown = false
    await clock.advance(2_000)
    expect(await a.act('again')).toMatchObject({ ok: true })
    expect(a.hub.cluster!.leaseOf('r')?.epoch).toBe(1)
  })

  it('gives its runs to others once, and leaves them alone afterwards', async () => {
    const { clock, start } = newCluster()
    const [a, ...others] = [await start(), await start(), await start(), await start()]
    await a.read()
    const record = recordIn(a.runs)
    const before = readFileSync(record, 'utf8')
    a.state.isDown = true
    await clock.advance(12_000)
    const calls = await Promise.all(others.map(({ read }) => read()))
    expect(calls.filter(({ ok }) => ok)).toHaveLength(1)
    for (const call of calls.filter(({ ok }) => !ok)) expect(call).toEqual(failed('RUN_ELSEWHERE'))
    const winner = others[calls.findIndex(({ ok }) => ok)]!
    expect(winner.hub.cluster!.leaseOf('r')?.epoch).toBe(2)
    a.state.isDown = false
    await clock.advance(2_000)
    expect(await a.act('late')).toEqual(failed('RUN_ELSEWHERE'))
    expect(a.done).toEqual([])
    expect(readFileSync(record, 'utf8')).toBe(before)
    await winner.hub.endRun('r')
    expect(await a.act('back')).toMatchObject({ ok: true })
    expect(a.hub.cluster!.leaseOf('r')?.epoch).toBe(3)
  })

  it('executes nothing that was approved while it was stopped', async () => {
    const { clock, start } = newCluster({ policy: [{ ask: 'remote' }] })
    const { now } = clock
    let stopped = 0
    Object.assign(clock, { now: () => now() + stopped })
    const a = await start({
      approve: () => {
        stopped = 60_000
        return { decision: 'allow', by: 'ada' }
      },
    })
    await a.read()
    expect(await a.act('late')).toEqual(failed('PROCESS_CUT_OFF'))
    expect(a.done).toEqual([])
  })

  it('does not acknowledge what it did before it was stopped', async () => {
    const { clock, start } = newCluster()
    const { now } = clock
    let stopped = 0
    Object.assign(clock, { now: () => now() + stopped })
    const a = await start()
    a.during(async () => {
      stopped = 60_000
    })
    expect(await a.act('once', { idempotencyKey: 'k' })).toEqual(failedMidway('PROCESS_CUT_OFF'))
    await a.hub.cluster!.beat()
    expect(await a.act('once', { idempotencyKey: 'k' })).toMatchObject({ ok: false, meta: { cached: true } })
    expect(a.done).toEqual(['once'])
  })
})

describe('a call whose key was stored, and the answer of the store was lost', () => {
  it('was not executed, says so, and can be repeated with its key', async () => {
    const { start } = newCluster()
    const a = await start()
    a.state.losesAnswer = true
    const lost = await a.act('once', { idempotencyKey: 'k' })
    expect(lost).toEqual(failed('RECORDS_UNAVAILABLE'))
    expect(lost.error?.message).toMatch(/test\.effect was not executed\.$/)
    a.state.losesAnswer = false
    expect(await a.act('once', { idempotencyKey: 'k' })).toMatchObject({ ok: true })
    expect(a.done).toEqual(['once'])
  })
})

describe('a run that was taken without its process knowing', () => {
  /** b has taken the run of a, whose heartbeats arrive again. */
  async function taken(change: Partial<HubOptions> = {}) {
    const { clock, start } = newCluster(change)
    const [a, b] = [await start(), await start()]
    await a.read()
    const take = async () => {
      await a.store.processes.remove(a.id)
      expect(await b.read()).toMatchObject({ ok: true })
      await a.hub.cluster!.beat()
    }
    return { clock, a, b, take }
  }

  it('gets no side effect from it', async () => {
    const { a, take } = await taken()
    await take()
    expect(await a.act('late')).toEqual(failed('RUN_MOVED'))
    expect(a.done).toEqual([])
    expect(await a.act('later')).toEqual(failed('RUN_ELSEWHERE'))
  })

  it('gets no further side effect of a call that has shared its intent', async () => {
    const sent: string[] = []
    const server = await startJsonServer((path) => ({ json: sent.push(path) }))
    ends.push(() => server.close())
    let beforeLast = async () => {}
    const post = defineTool({
      name: 'test.post',
      description: 'Sends something three times.',
      input: z.strictObject({}),
      capabilities: ['network', 'send'],
      targets: () => ({ network: [server.url], send: [server.url] }),
      async execute(_, { fetch }) {
        for (const path of ['/1', '/2', '/3', '/4']) {
          if (path === '/4') await beforeLast()
          await fetch(new URL(path, server.url).href, { method: 'POST', body: '{}' })
        }
      },
    })
    const { a, take } = await taken({
      tools: [post],
      durability: 'shared',
      policy: [{ allow: 'test.*' }],
      sandbox: { network: ['127.0.0.1'], privateRanges: ['127.0.0.0/8'] },
    })
    beforeLast = take
    expect(await a.hub.call(post, {}, { run: 'r' })).toMatchObject({ error: { code: 'RUN_MOVED' } })
    expect(sent).toEqual(['/1', '/2', '/3'])
  })

  it('gets no result of a key from it, and its side effect does not happen twice', async () => {
    const { a, b, take } = await taken()
    a.during(take)
    const keyed = { idempotencyKey: 'k' }
    await a.act('once', keyed)
    expect(await b.act('once', keyed)).toMatchObject({
      error: { code: 'CONFLICT', message: expect.stringContaining('its result is not in the store') },
    })
    expect([a.done, b.done]).toEqual([['once'], []])
  })

  it('gets no taint from it, and the content is withheld', async () => {
    const { a, b, take } = await taken()
    a.during(take)
    expect(await a.act('mail')).toEqual(failedMidway('RUN_MOVED'))
    expect(await b.read()).toMatchObject({ ok: true })
  })
})

function recordIn(runs: string): string {
  return join(runs, 'r', 'events.jsonl')
}

describe('the run of a process that was lost', () => {
  it('is ended by its own machine soon, and by others after a minute', async () => {
    const { clock, start } = newCluster()
    const [lost, other] = [await start(), await start()]
    expect(await lost.act('one')).toMatchObject({ ok: true })
    lost.state.isDown = true
    await clock.advance(12_000)
    expect(await other.hub.recoverRuns({ only: 'leased' })).toBe(0)
    const near = await start()
    mkdirSync(join(near.runs, 'r'), { recursive: true, mode: 0o700 })
    expect(await near.hub.recoverRuns({ only: 'leased' })).toBe(1)
    expect(await near.store.runStates.find('r')).toMatchObject({ epoch: 2, taintedBy: ['test.effect'] })
    expect((await near.store.runStates.find('r'))?.owner).toBeUndefined()

    const second = await start()
    expect(await second.act('two')).toMatchObject({ ok: true })
    second.state.isDown = true
    await clock.advance(75_000)
    expect(await other.hub.recoverRuns({ only: 'leased' })).toBe(1)
    expect((await other.store.runStates.find('r'))?.owner).toBeUndefined()
    expect(readFileSync(join(other.runs, 'r', 'events.jsonl'), 'utf8')).toContain('"type":"run-closed"')
  })

  it.each([
    ['hands it back', false],
    ['cannot even hand it back', true],
  ])('is ended although a process that takes it cannot open it and %s', async (_, keepsLeases) => {
    const { clock, start } = newCluster()
    const [lost, other] = [await start(), await start()]
    await lost.act('one')
    lost.state.isDown = true
    await clock.advance(75_000)
    Object.assign(other.state, { hidesRecords: true, keepsLeases })
    expect(await other.read()).toMatchObject({ ok: false })
    expect(await other.hub.recoverRuns({ only: 'leased' })).toBe(0)
    Object.assign(other.state, { hidesRecords: false, keepsLeases: false })
    await other.hub.cluster!.beat()
    await expect.poll(async () => (await other.store.runStates.find('r'))?.owner).toBe(lost.id)
    expect(await other.hub.recoverRuns({ only: 'leased' })).toBe(1)
    expect((await other.store.runStates.find('r'))?.owner).toBeUndefined()
    expect(readFileSync(recordIn(other.runs), 'utf8')).toContain('"type":"run-closed"')
  })

  it('is left alone while its process is alive', async () => {
    const { clock, start } = newCluster()
    const [one, other] = [await start(), await start()]
    await one.act('one')
    await clock.advance(120_000)
    expect(await other.hub.recoverRuns({ only: 'leased' })).toBe(0)
    expect(await one.act('two')).toMatchObject({ ok: true })
  })
})
