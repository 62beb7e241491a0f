import type { NewApproval, Store, StoreTests } from '@tool-hub/core'
import { newOwner } from '@tool-hub/sandbox/system'

const OWNER = newOwner()
/** No process has this id: it is above the largest that Linux gives. */
const DEAD = JSON.stringify({ ...JSON.parse(OWNER), pid: 2 ** 30 })
const DAY = 86_400_000
/** The time of the clock that stores of the suite get. */
export const SUITE_NOW = 77

/** Approval requests and questions. */
export function approvalsSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the approval requests of ${name}`, () => {
    const answer = { reply: '{"decision":"allow"}', by: 'anna', via: 'console', at: 50 }

    it('wait until the first answer, which wins', async () => {
      await store().approvals.file(ask())
      expect(await store().approvals.find('ask-1')).toEqual({ ...ask(), state: 'waiting', used: false })
      const won = await store().approvals.answer('ask-1', answer)
      expect(won).toEqual({ won: true, ask: { ...ask(), state: 'answered', answer, used: false } })
      expect(await store().approvals.answer('ask-1', { ...answer, by: 'bert' })).toEqual({ won: false, ask: won?.ask })
      expect(await store().approvals.answer('nothing', answer)).toBeUndefined()
    })

    it('take no answer after their time, nor once they are withdrawn', async () => {
      await store().approvals.file(ask())
      expect(await store().approvals.answer('ask-1', { ...answer, at: 101 })).toMatchObject({ won: false })
      expect(await store().approvals.answer('ask-1', { ...answer, at: 100 })).toMatchObject({ won: true })
      for (const state of ['withdrawn', 'expired'] as const) {
        await store().approvals.file(ask({ id: state }))
        await store().approvals.withdraw(state, state)
        expect(await store().approvals.answer(state, answer)).toMatchObject({ won: false, ask: { state } })
      }
    })

    it('are not withdrawn once they are answered, and filed once', async () => {
      await store().approvals.file(ask())
      await expect(async () => store().approvals.file(ask())).rejects.toMatchObject({
        code: 'CONFLICT',
        message: 'There is an approval request ask-1 already.',
      })
      await store().approvals.answer('ask-1', answer)
      await store().approvals.withdraw('ask-1', 'withdrawn')
      expect(await store().approvals.find('ask-1')).toMatchObject({ state: 'answered', answer })
    })

    it('are adopted by the same call of the same caller, when the process that asked is gone', async () => {
      await store().approvals.file(ask({ owner: DEAD }))
      const adopt = (change = {}) =>
        store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner: OWNER, now: 60, ...change })
      expect(await adopt({ hash: 'other' })).toBeUndefined()
      expect(await adopt({ caller: 'other' })).toBeUndefined()
      expect(await adopt({ now: 101 })).toBeUndefined()
      expect(await adopt({ now: 100 })).toEqual({ ...ask({ owner: OWNER }), state: 'waiting', used: false })
      expect(await adopt()).toBeUndefined()
    })

    it('are adopted one by one, the newest first', async () => {
      for (const [id, askedAt] of [
        ['b', 10],
        ['old', 9],
        ['c', 10],
        ['a', 10],
      ] as const)
        await store().approvals.file(ask({ id, askedAt, owner: DEAD }))
      await store().approvals.file(ask({ id: 'alive', askedAt: 11 }))
      const adopted: (string | undefined)[] = []
      for (let n = 0; n < 5; n++)
        adopted.push((await store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner: OWNER, now: 60 }))?.id)
      expect(adopted).toEqual(['c', 'b', 'a', 'old', undefined])
    })

    it('are left to another process while they wait, and not once they are answered', async () => {
      await store().approvals.file(ask())
      await store().approvals.leave('ask-1', 'nobody')
      expect(await store().approvals.find('ask-1')).toEqual({
        ...ask({ owner: 'nobody' }),
        state: 'waiting',
        used: false,
      })
      await store().approvals.answer('ask-1', answer)
      await store().approvals.leave('ask-1', 'another')
      await store().approvals.leave('nothing', 'another')
      expect(await store().approvals.find('ask-1')).toMatchObject({ owner: 'nobody', state: 'answered' })
    })

    it('are adopted when they have no owner', async () => {
      await store().approvals.file(ask({ owner: null }))
      expect(await store().approvals.find('ask-1')).toEqual({ ...ask({ owner: null }), state: 'waiting', used: false })
      const adopt = (owner: string | null) =>
        store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner, now: 60 })
      expect(await adopt(OWNER)).toMatchObject({ owner: OWNER })
      expect(await adopt(OWNER)).toBeUndefined()
      await store().approvals.leave('ask-1', null)
      expect(await store().approvals.find('ask-1')).toMatchObject({ owner: null, state: 'waiting' })
      expect(await adopt(null)).toMatchObject({ owner: null })
    })

    it('are used only once they are answered', async () => {
      await store().approvals.file(ask())
      await store().approvals.use('ask-1')
      expect(await store().approvals.find('ask-1')).toMatchObject({ state: 'waiting', used: false })
    })

    it('are adopted with their answer, until somebody used it', async () => {
      await store().approvals.file(ask({ owner: DEAD }))
      await store().approvals.answer('ask-1', answer)
      const adopt = (owner: string) => store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner, now: DAY })
      expect(await adopt(DEAD)).toMatchObject({ id: 'ask-1', state: 'answered', answer, owner: DEAD })
      await store().approvals.use('ask-1')
      expect(await adopt(OWNER)).toBeUndefined()
      expect(await store().approvals.find('ask-1')).toMatchObject({ used: true })
    })

    it('are adopted only from a process that is known to have ended', async () => {
      await store().approvals.file(ask({ id: 'far', owner: JSON.stringify({ pid: 1, space: 'another machine' }) }))
      await store().approvals.file(ask({ id: 'ours', owner: OWNER }))
      expect(
        await store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner: OWNER, now: 60 }),
      ).toBeUndefined()
    })

    it('are listed newest first, by state and kind, in pages', async () => {
      for (let n = 1; n <= 5; n++)
        await store().approvals.file(ask({ id: `ask-${n}`, askedAt: n, kind: n % 2 ? 'approval' : 'question' }))
      await store().approvals.answer('ask-3', answer)
      const ids = async (filter?: Parameters<Store['approvals']['list']>[0]) =>
        (await store().approvals.list(filter)).map(({ id }) => id.slice(-1)).join('')
      expect(await ids()).toBe('54321')
      expect(await ids({ state: 'waiting' })).toBe('5421')
      expect(await ids({ kind: 'question' })).toBe('42')
      expect(await ids({ state: 'waiting', kind: 'approval', before: 5 })).toBe('1')
      expect(await ids({ before: 5, limit: 2 })).toBe('43')
      expect(await ids({ limit: -1 })).toBe('')
    })

    it('are listed in brief, newest first, by state, kind and caller, in pages', async () => {
      for (let n = 1; n <= 5; n++)
        await store().approvals.file(
          ask({ id: `ask-${n}`, askedAt: n, kind: n % 2 ? 'approval' : 'question', caller: n < 3 ? 'ada' : 'bob' }),
        )
      await store().approvals.answer('ask-3', answer)
      const ids = async (filter?: Parameters<Store['approvals']['briefs']>[0]) =>
        (await store().approvals.briefs(filter)).map(({ id }) => id.slice(-1)).join('')
      expect(await ids()).toBe('54321')
      expect(await ids({ state: 'waiting' })).toBe('5421')
      expect(await ids({ kind: 'approval', caller: 'bob' })).toBe('53')
      expect(await ids({ before: 5, limit: 2 })).toBe('43')
      expect(await ids({ state: 'waiting', caller: 'ada', before: 2 })).toBe('1')
      const [newest] = await store().approvals.briefs({ state: 'waiting' })
      const expected = { id: 'ask-5', kind: 'approval', caller: 'bob', askedAt: 5, expiresAt: 100, state: 'waiting' }
      expect(newest).toEqual(expected)
    })

    it('are listed in full and in brief whatever became of them, and by id where they are of one moment', async () => {
      for (const id of ['b', 'd', 'a', 'c']) await store().approvals.file(ask({ id }))
      await store().approvals.answer('a', answer)
      await store().approvals.withdraw('b', 'withdrawn')
      await store().approvals.withdraw('c', 'expired')
      const all = ['d waiting', 'c expired', 'b withdrawn', 'a answered']
      expect((await store().approvals.list()).map(({ id, state }) => `${id} ${state}`)).toEqual(all)
      expect((await store().approvals.briefs()).map(({ id, state }) => `${id} ${state}`)).toEqual(all)
      expect((await store().approvals.briefs({ limit: 3 })).map(({ id }) => id)).toEqual(['d', 'c', 'b'])
    })

    it('of one caller wait up to a limit, which counts neither those that are over nor those of others', async () => {
      const most = { maxWaiting: 2 }
      await store().approvals.file(ask({ id: 'old', expiresAt: 9 }), most)
      await store().approvals.file(ask({ id: 'other', caller: 'bob' }), most)
      await store().approvals.file(ask({ id: 'one', expiresAt: 10 }), most)
      for (const id of ['two']) await store().approvals.file(ask({ id }), most)
      await expect(async () => store().approvals.file(ask({ id: 'three' }), most)).rejects.toMatchObject({
        code: 'RATE_LIMITED',
        message: '2 approval requests of agent are waiting for an answer already.',
        retryable: true,
      })
      expect(await store().approvals.find('three')).toBeUndefined()
      await store().approvals.answer('two', answer)
      await store().approvals.file(ask({ id: 'three' }), most)
      await store().approvals.file(ask({ id: 'four' }))
    })

    it('notify of every change once, in order', async () => {
      const received: string[] = []
      const stop = store().events.watch(({ topic, body, at }) => received.push(`${topic} ${body} ${at}`))
      await store().approvals.file(ask({ owner: DEAD }))
      await store().approvals.adopt({ hash: 'call-hash', caller: 'agent', owner: OWNER, now: 60 })
      await store().approvals.leave('ask-1', 'nobody')
      await store().approvals.answer('ask-1', answer)
      await store().approvals.answer('ask-1', answer)
      await store().approvals.use('ask-1')
      await store().approvals.use('ask-1')
      await store().approvals.withdraw('ask-1', 'expired')
      await store().approvals.file(ask({ id: 'ask-2' }))
      await store().approvals.withdraw('ask-2', 'expired')
      await Promise.resolve()
      stop()
      const expected = [
        ['ask-1', 'waiting', 10],
        ['ask-1', 'waiting', 60],
        ['ask-1', 'waiting', SUITE_NOW],
        ['ask-1', 'answered', 50],
        ['ask-1', 'answered', SUITE_NOW],
        ['ask-2', 'waiting', 10],
        ['ask-2', 'expired', SUITE_NOW],
      ]
      expect(received).toEqual(expected.map(([id, state, at]) => `ask ${JSON.stringify({ id, state })} ${at}`))
    })

    it('are swept a month after they ended; one that waits stays', async () => {
      await store().approvals.file(ask({ id: 'answered' }))
      await store().approvals.answer('answered', answer)
      await store().approvals.file(ask({ id: 'over' }))
      await store().approvals.file(ask({ id: 'waiting', expiresAt: 90 * DAY }))
      const left = async (at: number) => {
        await store().sweep(at)
        return (await store().approvals.list()).map(({ id }) => id)
      }
      expect(await left(30 * DAY + 10)).toEqual(['waiting', 'over', 'answered'])
      expect(await left(30 * DAY + 11)).toEqual(['waiting', 'over'])
      expect(await left(30 * DAY + 100)).toEqual(['waiting', 'over'])
      expect(await left(30 * DAY + 101)).toEqual(['waiting'])
    })
  })
}

function ask(change: Partial<NewApproval> = {}): NewApproval {
  return {
    id: 'ask-1',
    kind: 'approval',
    callId: 'call-1',
    run: 'run-1',
    tool: 'notes.save',
    caller: 'agent',
    hash: 'call-hash',
    request: '{"tool":"notes.save"}',
    askedAt: 10,
    expiresAt: 100,
    owner: OWNER,
    ...change,
  }
}
