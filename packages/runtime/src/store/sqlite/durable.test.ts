import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { newOwner } from '../../../../sandbox/src/system/processes.ts'
import { loadSqlite } from './database.ts'

const folder = join(temporaryFolder('durable'), 'data')
const store = openStore(folder, { busyTimeoutMs: 0 })
afterAll(() => store.close())

const ask = {
  ...{ id: 'a', kind: 'approval' as const, callId: 'c', run: 'r', tool: 't', caller: 'c', hash: 'h', request: '{}' },
  ...{ askedAt: 1, expiresAt: 9, owner: JSON.stringify({ ...JSON.parse(newOwner()), pid: 2 ** 30 }) },
}
const note = { id: 'n', scope: 's', text: 'x', tags: [], origin: '{}', createdAt: 1, updatedAt: 1 }
const session = {
  ...{ id: 's', root: 's', depth: 0, rootPrincipal: 'owner', isTainted: false, createdAt: 1, owner: 'o' },
}
const canvas = {
  ...{ id: 'c', name: 'c', title: '', kind: 'html' as const, run: 'r', caller: 'a', tainted: false, createdAt: 1 },
  version: { artifact: 'a', bytes: 1, callId: 'c' },
}
const version = { title: '', tainted: false, artifact: 'x', bytes: 0, at: 1, callId: 'c' }
const schedule = {
  ...{ id: 's', principal: 'p', name: 's', body: '{}', state: 'on' as const, version: 0, createdAt: 1, runs: 0 },
}
const run = { schedule: 's', dueAt: 1, status: 'waiting' as const, missed: 0, owner: 'me', leasedUntil: 9 }
const segment = {
  ...{ run: 'r', held: { owner: 'a', epoch: 1 }, first: 1, last: 1, after: '', hash: 'h', lines: '{}\n', at: 1 },
}
const overlap = { policy: 'queue' as const, maxActive: 9 }
const firing = { id: 's', version: 1, state: 'on' as const, dueAt: 2, nextAt: 3, at: 1, overlap }
const message = {
  ...{ id: 'inbox-1', at: 1, level: 'info' as const, text: 't', caller: 'a', run: 'r', callId: 'c' },
  ...{ isUntrusted: false, attachments: [] },
}
const words = { level: 'info' as const, text: 'x', isUntrusted: false }

/** Each finds what the ones before it have left. */
const DURABLE: readonly (readonly [name: string, write: () => unknown])[] = [
  ['keys.claim', () => store.keys.claim('k', { argsHash: 'h', owner: 'o', now: 0 })],
  ['keys.finish', () => store.keys.finish('k', { owner: 'o', expiresAt: 9 })],
  ['approvals.file', () => store.approvals.file(ask)],
  ['approvals.adopt', () => store.approvals.adopt({ hash: 'h', caller: 'c', owner: 'o', now: 1 })],
  ['approvals.answer', () => store.approvals.answer('a', { reply: '{}', by: 'b', via: 'v', at: 2 })],
  ['approvals.use', () => store.approvals.use('a')],
  ['grants.put', () => store.grants.put({ id: 'g', tool: 't', body: '{}', createdAt: 1 })],
  ['grants.remove', () => store.grants.remove('g')],
  ['tokens.add', () => store.tokens.add({ id: 't', name: 't', hash: 'h', body: '{}', createdAt: 1 })],
  ['tokens.remove', () => store.tokens.remove('t')],
  ['signIns.add', () => store.signIns.add({ hash: 'h', token: 't', body: '{}', createdAt: 1, expiresAt: 9 })],
  ['signIns.remove', () => store.signIns.remove('h')],
  ['signIns.add', () => store.signIns.add({ hash: 'i', token: 't', body: '{}', createdAt: 1, expiresAt: 9 })],
  ['signIns.removeOf', () => store.signIns.removeOf('t')],
  ['jobs.add', () => store.jobs.add({ id: 'j', kind: 'k', body: '', dueAt: 0 })],
  ['memory.add', () => store.memory.add(note)],
  ['memory.replace', () => store.memory.replace({ ...note, text: 'y' })],
  ['memory.remove', () => store.memory.remove('n')],
  ['memory.add', () => store.memory.add(note)],
  ['memory.removeScope', () => store.memory.removeScope('s')],
  ['sessions.add', () => store.sessions.add(session)],
  ['sessions.taint', () => store.sessions.taint('s')],
  ['sessions.end', () => store.sessions.end('s', { state: 'ended', at: 2 })],
  ['sessions.reopen', () => store.sessions.reopen('s', 'p')],
  [
    'mail.put',
    () => store.mail.put({ id: 'm', inbox: 'i', sender: 's', text: '', isTainted: false, sentAt: 1 }, { maxUnread: 9 }),
  ],
  ['runStates.lease', () => store.runStates.lease('r', { owner: 'a' })],
  ['runStates.taint', () => store.runStates.taint('r', ['mail'])],
  ['runStates.own', () => store.runStates.own('s', 'ada')],
  ['settings.secret', () => store.settings.secret('key')],
  ['segments.append', () => store.segments.append([segment])],
  ['segments.move', () => store.segments.move('r', { first: 1, last: 1, object: 'o' })],
  ['blobs.addPart', () => store.blobs.addPart('u', { number: 0, content: new Uint8Array(1), at: 1 })],
  ['blobs.add', () => store.blobs.add({ hash: 'h', bytes: 1, upload: 'u', parts: 1, run: 'r', at: 1 })],
  ['blobs.use', () => store.blobs.use('h', { run: 's', at: 1 })],
  ['documents.write', () => store.documents.write('d', '{}', 0)],
  ['workerCalls.add', () => store.workerCalls.add({ id: 'c', queue: 'worker', run: 'r', queuedAt: 1 })],
  ['workerCalls.claim', () => store.workerCalls.claim(['c'], { worker: 'w', now: 2 })],
  ['workerCalls.finish', () => store.workerCalls.finish('c', { worker: 'w', result: '1' })],
  ['heads.put', () => store.heads.put({ run: 'r', opening: 'o', seq: 1, hash: 'h', at: 1 })],
  ['heads.remove', () => store.heads.remove('r', { by: 'ada', at: 2 })],
  ['canvases.add', () => store.canvases.add(canvas, { maxOfRun: 9 })],
  ['canvases.addVersion', () => store.canvases.addVersion('c', version, { keep: 2 })],
  ['canvases.hide', () => store.canvases.hide('c', 2)],
  ['schedules.add', () => store.schedules.add(schedule, { most: 9 })],
  ['schedules.save', () => store.schedules.save(schedule)],
  ['schedules.fire', () => store.schedules.fire({ ...firing, runs: [{ ...run, id: '1' }] })],
  ['schedules.addRun', () => store.schedules.addRun({ ...run, id: '2' }, overlap)],
  ['schedules.takeOver', () => store.schedules.takeOver('2', 'me', { owner: 'you', leasedUntil: 9 })],
  [
    'schedules.begin',
    () => store.schedules.begin({ id: '1', owner: 'me', runId: 'r', startedAt: 1, leasedUntil: 9, isAlone: true }),
  ],
  ['schedules.end', () => store.schedules.end({ id: '1', owner: 'me', status: 'ok', endedAt: 2, keep: 9 })],
  ['schedules.remove', () => store.schedules.remove('s')],
  ['inbox.add', () => store.inbox.add(message, 9)],
  ['inbox.edit', () => store.inbox.edit('inbox-1', 'r', words, 2)],
  ['inbox.markRead', () => store.inbox.markRead(undefined, 2)],
  ['inbox.remove', () => store.inbox.remove('inbox-1')],
]

describe('what must survive a loss of power', () => {
  it.each(DURABLE)('is waited for: %s', async (_, write) => {
    const writing = write()
    expect(writing).toBeInstanceOf(Promise)
    await writing
  })
})

describe('what nobody relies on', () => {
  it.each<[string, () => unknown]>([
    ['budgets.reserve', () => store.budgets.reserve([{ account: 'a', limits: {} }], 1)],
    ['budgets.settle', () => store.budgets.settle(['a'], { wallMs: 1, bytes: 1 })],
    ['rates.take', () => store.rates.take([{ bucket: 'b', perSecond: 1, burst: 1 }], 0)],
    ['jobs.take', () => store.jobs.take({ kind: 'k', owner: 'o', now: 1, leaseMs: 1 })],
    ['slots.lease', () => store.slots.lease('s', { owner: 'o', now: 0, until: 1 })],
    ['events.append', () => store.events.append({ topic: 't', body: '', at: 1 })],
    ['calls.put', () => store.calls.put({ calls: [], runs: [] })],
    ['documents.read', () => store.documents.read('d')],
    ['mail.take', () => store.mail.take('i', { limit: 1, now: 1 })],
    ['sweep', () => store.sweep(1)],
  ])('is not waited for: %s', (_, write) => {
    expect(write()).not.toBeInstanceOf(Promise)
  })
})

describe('what has nothing to write', () => {
  it('does not wait for a process that writes', async () => {
    await store.check()
    const { DatabaseSync } = loadSqlite()
    const other = new DatabaseSync(join(folder, 'store.db'), { timeout: 0 })
    other.exec('BEGIN IMMEDIATE')
    expect(() => store.sweep(1)).toThrow('is locked by another process')
    expect(store.budgets.reserve([], 1)).toEqual({ ok: true, used: [] })
    expect(store.budgets.settle([], { wallMs: 1, bytes: 1 })).toEqual([])
    store.budgets.release([], 1)
    expect(store.rates.take([], 0)).toEqual({ ok: true })
    expect(store.jobs.take({ kind: 'none', owner: 'o', now: 9, leaseMs: 1 })).toBeUndefined()
    expect(store.mail.take('none', { limit: 1, now: 1 })).toEqual([])
    expect(await store.memory.removeScope('none')).toBe(0)
    other.exec('ROLLBACK')
    other.close()
  })
})
