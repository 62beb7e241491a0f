import type { Store } from '@tool-hub/core'
import { expect } from 'vitest'

const DAY = 86_400_000
/** Long after every test. */
const LATER = Date.UTC(2100, 0, 1)

/** Puts rows into every table of a store through its interface; only blocks of budgets are made by those who use them. */
export async function fillStore(store: Store): Promise<void> {
  const now = Date.now()
  await store.keys.claim('key-1', { argsHash: 'h', owner: 'o', now })
  await store.keys.claim('key-2', { argsHash: 'h', owner: 'o', now })
  await store.keys.finish('key-2', { owner: 'o', result: '{"text":"ünï\\u2028 \\"🙂"}', expiresAt: LATER })
  await store.budgets.reserve([{ account: 'run:a', limits: {}, expiresAt: LATER }], 0.1)
  await store.budgets.settle(['run:a'], { wallMs: 12.345678901234567, bytes: 1e15 + 1 })
  await store.rates.take([{ bucket: 'r', perSecond: 0.001, burst: 3 }], now, 2)
  await store.approvals.file({
    ...{ id: 'ask-1', kind: 'approval', callId: 'c1', run: 'r1', tool: 'notes.save', caller: 'agent', hash: 'h' },
    ...{ request: '{"tool":"notes.save"}', askedAt: now, expiresAt: LATER, owner: 'o' },
  })
  await store.grants.put({ id: 'g1', tool: 'notes.save', body: '{}', createdAt: now, expiresAt: LATER })
  await store.tokens.add({ id: 't1', name: 'ci', hash: 'hash-1', body: '{}', createdAt: now })
  await store.signIns.add({ hash: 's1', token: 't1', body: '{}', createdAt: now, expiresAt: LATER })
  await store.jobs.add({ id: 'j1', kind: 'webhook', body: '{}', dueAt: now })
  await store.slots.lease('slot-1', { owner: 'o', now, until: LATER })
  const calls = Array.from({ length: 250 }, (_, n) => ({
    ...{ callId: `c${n}`, run: 'r1', seq: n, tool: 'notes.save', caller: 'agent', status: 'ok' as const },
    ...{ startedAt: now + n, durationMs: n / 3, summary: `Saved the needle ${n}.` },
  }))
  await store.calls.put({ calls, runs: [{ run: 'r1', bytes: 10, at: now }] })
  await store.heads.put({ run: 'r1', opening: 'o1', seq: 1, hash: 'h1', at: now })
  await store.userTexts.add('r1', 'Please save it.', { maxChars: 1_000, at: now })
  await store.events.append({ topic: 'ask', body: '{}', at: now })
  await store.inbox.add(
    {
      ...{ id: 'm1', at: now, level: 'info', text: 'Done.', caller: 'agent', run: 'r1', callId: 'c1' },
      ...{ isUntrusted: false, attachments: [] },
    },
    10,
  )
  await store.canvases.add(
    {
      ...{ id: 'v1', name: 'v1', title: 'View', kind: 'html', run: 'r1', caller: 'agent', tainted: false },
      ...{ createdAt: now, version: { artifact: 'artifact:a', bytes: 3, callId: 'c1' } },
    },
    { maxOfRun: 3 },
  )
  await store.memory.add(
    {
      id: 'n1',
      scope: 'shared',
      text: 'The needle is here.',
      tags: ['up'],
      origin: '{}',
      createdAt: now,
      updatedAt: now,
    },
    { vector: Float32Array.from([0.25, -1]) },
  )
  const origin = { tainted: false, reviewed: false, at: now }
  await store.memoryCandidates.add(
    {
      ...{ id: 'r1.a', run: 'r1', state: 'waiting', at: now },
      note: { id: 'r1.a', run: 'r1', scope: 'shared', key: 'shared', content: 'Tea', tags: [], origin },
    },
    { maxInRun: 3 },
  )
  await store.scripts.add(
    {
      ...{ id: 's1', run: 'r1', caller: 'agent', sha256: 'ab', source: 'return 1', setup: '{}', status: 'suspended' },
      ...{ approvals: [], createdAt: now, updatedAt: now },
    },
    [{ position: 1, seq: 1, tool: 'core/fs.readText', argsHash: 'h', status: 'ok', isUntrusted: false }],
  )
  await store.savedScripts.add({
    ...{ name: 'sum', description: 'Adds.', sha256: 'ab', source: 'return 1', inputSchema: { type: 'object' } },
    ...{ savedBy: 'owner', savedAt: now },
  })
  const session = {
    id: 'r1',
    root: 'r1',
    depth: 0,
    rootPrincipal: 'owner',
    isTainted: false,
    createdAt: now,
    owner: 'o',
  }
  await store.sessions.add(session)
  await store.mail.put(
    { id: 'x', inbox: 'r1', sender: 'r1', text: 'Hello.', isTainted: false, sentAt: now },
    { maxUnread: 3 },
  )
  const times = { dueAt: now, nextAt: now }
  await store.schedules.add(
    {
      ...{ id: 'p1', principal: '', name: 'nightly', body: '{}', state: 'on', version: 0, createdAt: now, runs: 0 },
      ...times,
    },
    { most: 10 },
  )
  const run = { schedule: 'p1', dueAt: now, status: 'waiting', missed: 0, owner: 'o', leasedUntil: LATER } as const
  await store.schedules.fire({
    ...{
      id: 'p1',
      version: 0,
      state: 'on',
      dueAt: now + DAY,
      nextAt: now + DAY,
      at: now,
      runs: [{ id: 'f1', ...run }],
    },
    overlap: { policy: 'queue', maxActive: 3 },
  })
  await store.processes.beat({
    ...{ id: 'p1', kind: 'service', address: 'http://10.0.0.1:1', host: 'a', pid: 1, version: '1', labels: ['gpu'] },
    ...{ running: 0, isDraining: false, startedAt: now },
  })
  const held = await store.runStates.lease('r1', { owner: 'p1', principal: 'token:ci' })
  await store.runStates.taint('r1', ['https://example.org'])
  await store.settings.secret('cluster')
  await store.documents.write('pins', '{"a":1}', 0)
  await store.workerCalls.add({ id: 'call-1', queue: 'worker:gpu', run: 'r', queuedAt: 1 })
  await store.segments.append([
    {
      ...{ run: 'r1', held: { owner: 'p1', epoch: held.epoch }, first: 1, last: 1, after: '', hash: 'h1' },
      ...{ lines: '{"seq":1}\n', at: now },
    },
  ])
  await store.blobs.addPart('up-1', { number: 0, content: Uint8Array.from([0, 255, 10, 13]), at: now })
  await store.blobs.add({ hash: 'ab', bytes: 4, upload: 'up-1', parts: 1, run: 'r1', at: now })
}

/** Expects that a copy of a store that `fillStore` has filled works like the store, and closes it. */
export async function expectToContinue(store: Store): Promise<void> {
  await store.check()
  expect(await store.calls.calls({ text: 'needle 249', limit: 10 })).toMatchObject([{ callId: 'c249' }])
  const query = { text: 'needle', scopes: ['shared'], tags: [], limit: 10, now: Date.now() }
  expect(await store.memory.search(query)).toMatchObject([{ note: { id: 'n1' } }])
  const nearest = { vector: Float32Array.from([0.25, -1]), scopes: ['shared'], tags: [], limit: 10 }
  expect(await store.memory.nearest(nearest)).toMatchObject([{ note: { id: 'n1' } }])
  expect(await store.memoryCandidates.find('r1.a')).toMatchObject({ state: 'waiting', note: { content: 'Tea' } })
  expect(await store.events.append({ topic: 'ask', body: '{}', at: 1 })).toBe(3)
  expect(await store.keys.look('key-2')).toMatchObject({ result: '{"text":"ünï\\u2028 \\"🙂"}' })
  expect(await store.keys.claim('key-1', { argsHash: 'h', owner: 'other', now: Date.now() })).toMatchObject({
    state: 'running',
  })
  const used = { calls: 1, wallMs: 12.345678901234567, bytes: 1e15 + 1, cost: 0.1 }
  expect(await store.budgets.used('run:a')).toEqual(used)
  const answer = { reply: '{}', by: 'anna', via: 'cli', at: Date.now() }
  expect(await store.approvals.answer('ask-1', answer)).toMatchObject({ won: true })
  expect(await store.tokens.findByHash('hash-1')).toMatchObject({ name: 'ci' })
  expect(await store.schedules.find('p1')).toMatchObject({ name: 'nightly', runs: 1 })
  expect(await store.runStates.find('r1')).toMatchObject({ principal: 'token:ci', taintedBy: ['https://example.org'] })
  expect(await store.documents.read('pins')).toEqual({ revision: 1, body: '{"a":1}' })
  expect(await store.documents.write('pins', '{}', 1)).toBe(true)
  expect(await store.workerCalls.claim(['call-1'], { worker: 'w', now: 2 })).toEqual(['call-1'])
  expect(await store.blobs.part('up-1', 0)).toEqual(expect.objectContaining({ length: 4 }))
  await store.close()
}
