import type { Store, StoredEvent } from '@tool-hub/core'
import { openPostgresStore } from '@tool-hub/library/stores'
import { newOwner } from '@tool-hub/sandbox/system'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'

let server: TestPostgres
let schemas = 0
let clients: Store[] = []
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
})

/** Stores as different processes have them: with connections of their own. */
async function openClients(count: number): Promise<Store[]> {
  const schema = `races_${++schemas}`
  clients = Array.from({ length: count }, () => openPostgresStore(server.url, { schema, pool: 4, pollMs: 100 }))
  await Promise.all(clients.map((client) => client.check()))
  return clients
}

/** Does something from all clients concurrently, several times each. */
function everywhere<T>(times: number, work: (client: Store, n: number) => T | Promise<T>): Promise<T[]> {
  const all = Array.from({ length: times * clients.length }, (_, n) => n)
  return Promise.all(all.map(async (n) => work(clients[n % clients.length]!, n)))
}

describe('many clients of one database at the same time', () => {
  it('create its tables once', async () => {
    await openClients(8)
    expect(server.sql(`SELECT COUNT(*) FROM races_${schemas}.store_version`).trim()).toBe('1')
  })

  it('never pass a budget', async () => {
    await openClients(4)
    const account = { account: 'a', limits: { calls: 50, cost: 100 } }
    const outcomes = await everywhere(30, (client) => client.budgets.reserve([account], 2))
    const allowed = outcomes.filter(({ ok }) => ok).length
    expect(allowed).toBe(50)
  })

  it('never take more tokens than a bucket has, nor deadlock over two of them', async () => {
    await openClients(4)
    const bucket = (name: string) => ({ bucket: name, perSecond: 1e-6, burst: 40 })
    const outcomes = await everywhere(25, (client, n) =>
      client.rates.take(n % 2 ? [bucket('a'), bucket('b')] : [bucket('b'), bucket('a')], 1_000),
    )
    expect(outcomes.filter(({ ok }) => ok)).toHaveLength(40)
  })

  it('claim an idempotency key once, and again once it is free', async () => {
    await openClients(4)
    for (const name of ['first', 'second', 'third']) {
      const held = await everywhere(8, (client, n) =>
        client.keys.claim(name, { argsHash: 'h', owner: `owner-${n}`, now: 1 }),
      )
      expect(held.filter((state) => state === undefined)).toHaveLength(1)
    }
    const [client] = clients
    const { owner } = (await client!.keys.look('first'))!
    await client!.keys.finish('first', { owner, expiresAt: 10 })
    const again = await everywhere(8, (each, n) =>
      each.keys.claim('first', { argsHash: 'h', owner: `new-${n}`, now: 10 }),
    )
    expect(again.filter((state) => state === undefined)).toHaveLength(1)
  })

  it('take every job once, and a slot one at a time', async () => {
    await openClients(4)
    await everywhere(10, (client, n) => client.jobs.add({ id: `job-${n}`, kind: 'hook', body: '', dueAt: 0 }))
    const taken = await everywhere(15, (client, n) =>
      client.jobs.take({ kind: 'hook', owner: `worker-${n}`, now: 1, leaseMs: 1_000 }),
    )
    const ids = taken.flatMap((job) => job?.id ?? [])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(40)
    const leased = await everywhere(8, (client, n) => client.slots.lease('s', { owner: `o-${n}`, now: 1, until: 9 }))
    expect(leased.filter(Boolean)).toHaveLength(1)
  })

  it('answer an approval once, and file no more than a caller may have', async () => {
    await openClients(4)
    const request = (id: string) => ({
      ...{ id, kind: 'approval' as const, callId: 'c', run: 'r', tool: 't', caller: 'ada', hash: 'h', request: '{}' },
      ...{ askedAt: 1, expiresAt: 100, owner: null },
    })
    const filed = await Promise.allSettled(
      Array.from({ length: 24 }, (_, n) =>
        (async () => clients[n % 4]!.approvals.file(request(`ask-${n}`), { maxWaiting: 5 }))(),
      ),
    )
    expect(filed.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
    const [first] = await clients[0]!.approvals.briefs()
    const answers = await everywhere(6, (client, n) =>
      client.approvals.answer(first!.id, { reply: '{}', by: `person-${n}`, via: 'console', at: 2 }),
    )
    expect(answers.filter((answer) => answer?.won)).toHaveLength(1)
    const owner = newOwner()
    const adopted = await everywhere(6, (client) => client.approvals.adopt({ hash: 'h', caller: 'ada', owner, now: 2 }))
    const ids = adopted.flatMap((each) => each?.id ?? [])
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted())
    expect(ids).toHaveLength(5)
  })

  it('receive every event once and in order, from every process', async () => {
    await openClients(4)
    const heard = clients.map((): StoredEvent[] => [])
    for (const [index, client] of clients.entries()) client.events.watch((event) => heard[index]!.push(event))
    // The watchers have begun when they hear something.
    await expect
      .poll(async () => {
        await clients[0]!.events.append({ topic: 'begin', body: '', at: 0 })
        return heard.every(({ length }) => length > 0)
      })
      .toBe(true)
    const written = await everywhere(50, (client, n) => client.events.append({ topic: 'work', body: String(n), at: n }))
    expect(new Set(written).size).toBe(200)
    const works = (events: readonly StoredEvent[]) => events.filter(({ topic }) => topic === 'work')
    await expect.poll(() => heard.map((events) => works(events).length)).toEqual([200, 200, 200, 200])
    for (const events of heard) {
      const numbers = events.map(({ seq }) => seq)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(works(events).map(({ seq }) => seq)).toEqual(written.toSorted((a, b) => a - b))
    }
  })

  it('lease a run to one process', async () => {
    await openClients(4)
    const names = ['p0', 'p1', 'p2', 'p3']
    const about = {
      kind: 'service' as const,
      host: 'h',
      pid: 1,
      version: '1',
      labels: [],
      running: 0,
      isDraining: false,
      startedAt: 0,
    }
    for (const [index, id] of names.entries()) await clients[index]!.processes.beat({ id, ...about })
    const states = await everywhere(5, (client, n) => client.runStates.lease('run', { owner: names[n % 4]! }))
    expect(new Set(states.map(({ owner }) => owner)).size).toBe(1)
    expect(new Set(states.map(({ epoch }) => epoch))).toEqual(new Set([1]))
  })

  it('keep the counts of one scope of notes, and number the notes without gaps', async () => {
    await openClients(4)
    const added = await Promise.allSettled(
      Array.from({ length: 40 }, (_, n) =>
        (async () =>
          clients[n % 4]!.memory.add(
            { id: `note-${n}`, scope: 'shared', text: 'tea', tags: [], origin: '{}', createdAt: n, updatedAt: n },
            { maxInScope: 25 },
          ))(),
      ),
    )
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(25)
    expect(await clients[0]!.memory.list({ scope: 'shared', limit: 100 })).toHaveLength(25)
  })
})
