import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { adoptDataFolder } from '../../../../sandbox/src/system/data-folder.ts'

/** A store that was written before its repositories were rewritten; it has an entry in every table. */
const FIXTURE = join(import.meta.dirname, '../../../../../test/fixtures/store-version-15.db.gz')

const folder = join(temporaryFolder('version-15'), 'data')
mkdirSync(folder, { mode: 0o700 })
writeFileSync(join(folder, 'store.db'), gunzipSync(readFileSync(FIXTURE)), { mode: 0o600 })
adoptDataFolder(folder)
const store = openStore(folder)
afterAll(() => store.close())

it('opens a store of version 15 and finds it intact', async () => {
  await store.check()
})

it('reads its limits, keys and grants', async () => {
  expect(store.keys.look('done')).toEqual({
    ...{ argsHash: 'h', state: 'finished', owner: 'o', result: '{"ok":true}', expiresAt: 9e15 },
  })
  expect(store.keys.look('running')).toEqual({ argsHash: 'h2', state: 'running', owner: 'o' })
  expect(store.budgets.used('run:r')).toEqual({ calls: 1, wallMs: 1.5, bytes: 10, cost: 2.5 })
  const bucket = { bucket: 'b', perSecond: 1, burst: 2 }
  expect([store.rates.take([bucket], 1_000), store.rates.take([bucket], 1_000)]).toEqual([
    { ok: true },
    { ok: false, bucket: 'b', waitMs: 1_000 },
  ])
  expect(store.grants.list()).toEqual([
    { id: 'g1', tool: 't', body: '{}', createdAt: 1 },
    { id: 'g2', tool: 'u', body: '{"x":1}', createdAt: 2, expiresAt: 9e15 },
  ])
})

it('reads its approval requests; the process id that stood for nobody is not an owner', async () => {
  const request = {
    ...{ callId: 'c', run: 'r', tool: 't', caller: 'agent', hash: 'hash', request: '{"a":1}', askedAt: 10 },
    ...{ expiresAt: 9e15, owner: null, used: false },
  }
  const answer = { reply: '{}', by: 'anna', via: 'console', at: 50 }
  expect(store.approvals.list()).toEqual([
    { ...request, id: 'waiting', kind: 'approval', state: 'waiting' },
    { ...request, id: 'answered', kind: 'question', state: 'answered', answer },
  ])
  expect(await store.approvals.adopt({ hash: 'hash', caller: 'agent', owner: 'o', now: 60 })).toMatchObject({
    ...{ id: 'waiting', owner: 'o' },
  })
})

it('reads its tokens, sign-ins, jobs and slots', () => {
  expect(store.tokens.findByHash('th')).toEqual({
    ...{ id: 't', name: 'ci', hash: 'th', body: '{}', createdAt: 1, usedAt: 77 },
  })
  expect(store.signIns.find('sh', 5)).toEqual({ hash: 'sh', token: 't', body: '{}', createdAt: 1, expiresAt: 9e15 })
  expect(store.jobs.list({ kind: 'webhook' })).toEqual([
    { id: 'j', kind: 'webhook', body: '{}', dueAt: 5, attempts: 1 },
  ])
  expect(store.slots.lease('slot', { owner: 'another', now: 1, until: 2 })).toBe(false)
})

it('reads and searches its notes', () => {
  const common = { scope: 'shared', origin: '{}', createdAt: 1, updatedAt: 2 }
  const [first, second] = [
    { ...common, id: 'n1', text: 'The invoices are in the red folder', tags: ['Finance'] },
    { ...common, id: 'n2', text: 'Coffee at nine', tags: [] },
  ]
  const query = { scopes: ['shared'], tags: [], limit: 9, now: 2 }
  expect(store.memory.list({ limit: 9 })).toEqual([
    { ...second, seq: 2 },
    { ...first, seq: 1 },
  ])
  expect(store.memory.search({ ...query, text: 'invoice' })).toMatchObject([{ note: first }])
  expect(store.memory.search({ ...query, tags: ['finance'], text: '' })).toMatchObject([{ note: first }])
  expect(store.memory.nearest({ ...query, vector: new Float32Array([0.6, 0.8]) })).toMatchObject([{ note: second }])
})

it('reads its sessions and their messages', () => {
  const common = { root: 'r', rootPrincipal: 'owner', createdAt: 1, owner: 'o' }
  const child = {
    ...{ id: 'child', seq: 2, label: 'L', parent: 'r', depth: 1, principal: 'p', runner: 'x', task: 'Find it' },
    ...{ limits: '{}', isTainted: true, state: 'failed', reason: 'died', result: 'R', endedAt: 5 },
  }
  expect(store.sessions.list({})).toEqual([
    { ...common, ...child },
    { ...common, id: 'r', seq: 1, depth: 0, isTainted: false, state: 'running' },
  ])
  expect(store.mail.list({ session: 'r', limit: 9 })).toEqual([
    { seq: 1, id: 'm1', inbox: 'r', sender: 'child', text: 'hello', isTainted: true, sentAt: 3, readAt: 8 },
    { seq: 2, id: 'm2', inbox: 'r', sender: 'child', text: 'again', isTainted: false, sentAt: 4, replyTo: 'm1' },
  ])
})

it('reads its index and the heads of its records', () => {
  expect(store.calls.calls({ text: 'NOTHING', limit: 9 })).toEqual([
    {
      ...{ callId: 'c1', run: 'r', seq: 1, tool: 'core/fs.readText', caller: 'agent', principal: 'token:ci/s' },
      ...{ status: 'error', startedAt: 100, durationMs: 1.5, effect: 'allow', rule: 'default', error: 'NOT_FOUND' },
      ...{ summary: 'Read Nothing', targets: ['/a', '/b'], approvedBy: 'anna', purpose: 'look', request: '/a' },
      parent: 'c0',
    },
  ])
  expect(store.calls.runs({ text: 'find it', limit: 9 })).toEqual([
    {
      run: 'r',
      caller: 'agent',
      principal: 'token:ci',
      startedAt: 100,
      endedAt: 200,
      calls: 1,
      failures: 1,
      denials: 0,
    },
  ])
  expect(store.calls.position('r')).toBe(512)
  expect(store.heads.list()).toEqual([
    { run: 'gone', opening: '', seq: 0, hash: '', at: 10, removedBy: 'anna' },
    { run: 'r', opening: 'o1', seq: 3, hash: 'hh', at: 9 },
  ])
})

it('reads its canvases, schedules and inbox', () => {
  const latest = { n: 2, artifact: 'a2', bytes: 5, at: 2, callId: 'c2' }
  expect(store.canvases.find('cv')).toEqual({
    ...{ id: 'cv', name: 'chart', title: 'Chart 2', kind: 'html', run: 'r', caller: 'agent', principal: 'p' },
    ...{ hidden: false, tainted: true, createdAt: 1, updatedAt: 2, latest },
    versions: [{ n: 1, artifact: 'a1', bytes: 4, at: 1, callId: 'c1' }, latest],
  })
  expect(store.schedules.list()).toEqual([
    {
      ...{ id: 's', principal: 'p', name: 'nightly', body: '{}', state: 'on', dueAt: 15, nextAt: 16, version: 1 },
      ...{ createdAt: 1, runs: 1, lastAt: 6, lastStatus: 'failed' },
    },
  ])
  expect(store.schedules.findRun('sr')).toEqual({
    ...{ id: 'sr', schedule: 's', seq: 1, dueAt: 5, startedAt: 7, endedAt: 8, status: 'failed', missed: 2 },
    ...{ runId: 'rr', summary: 'S', error: 'E', untrusted: true, owner: 'o', leasedUntil: 9 },
  })
  expect(store.inbox.list({ limit: 9 })).toEqual([
    {
      ...{ id: 'inbox-1', at: 1, level: 'info', text: 'other', caller: 'agent', principal: 'p', run: 'r', callId: 'c' },
      ...{ isUntrusted: true, attachments: [{ ref: 'x', name: 'n', bytes: 1 }], editedAt: 2, readAt: 3 },
    },
  ])
})
