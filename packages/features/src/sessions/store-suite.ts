import type { Store, StoreTests } from '@tool-hub/core'
import { type NewSession, SESSION_AGE_MS } from './store-types.ts'

/** Sessions of agents, and what they write to each other. */
export function sessionsSuite({ name, store, describe, it, expect }: StoreTests): void {
  const session = (id: string, more: Partial<NewSession> = {}): NewSession => ({
    ...{ id, root: 'r', depth: 0, rootPrincipal: 'owner', isTainted: false, createdAt: 1, owner: 'o' },
    ...more,
  })
  const child = (id: string, more: Partial<NewSession> = {}) =>
    session(id, { parent: 'r', depth: 1, runner: 'x', task: 'Work.', ...more })

  describe(`the sessions of ${name}`, () => {
    it('keep all that is said of one, once', async () => {
      const whole = child('s', { label: 'l', principal: 'token:ci/s', limits: '{"calls":1}', isTainted: true })
      expect(await store().sessions.add(whole)).toBeGreaterThan(0)
      expect(await store().sessions.add(session('s'))).toBeUndefined()
      expect(await store().sessions.find('s')).toEqual({ ...whole, seq: expect.any(Number), state: 'running' })
      expect(await store().sessions.find('t')).toBeUndefined()
    })

    it('limits the sessions with a runner that run concurrently below one root', async () => {
      const add = (id: string, more = {}) => store().sessions.add(child(id, more), { maxRunning: 2 })
      await store().sessions.add(session('r'))
      expect([await add('a'), await add('b')].every(Boolean)).toBe(true)
      expect(await add('c')).toBeUndefined()
      expect(await add('d', { root: 'other' })).toBeGreaterThan(0)
      await store().sessions.end('a', { state: 'ended', at: 2 })
      expect(await add('c')).toBeGreaterThan(0)
    })

    it('end once, and what is said of the first end stays', async () => {
      await store().sessions.add(child('s'))
      const end = { state: 'failed', reason: 'exit 3', result: 'half', isTainted: true, at: 5 } as const
      expect(await store().sessions.end('s', end)).toBe(true)
      expect(await store().sessions.end('s', { state: 'ended', at: 6 })).toBe(false)
      const { at: endedAt, ...told } = end
      expect(await store().sessions.find('s')).toMatchObject({ ...told, endedAt })
      await store().sessions.reopen('s', 'p')
      expect(await store().sessions.find('s')).toMatchObject({ state: 'failed' })
    })

    it('that end without words stay as clean as they were', async () => {
      await store().sessions.add(child('s'))
      await store().sessions.add(child('t', { isTainted: true }))
      for (const id of ['s', 't']) await store().sessions.end(id, { state: 'ended', at: 5 })
      const { seq: _, ...ended } = (await store().sessions.find('s'))!
      expect(ended).toEqual({ ...child('s'), state: 'ended', endedAt: 5 })
      expect(await store().sessions.find('t')).toMatchObject({ isTainted: true })
      expect(await store().sessions.end('nobody', { state: 'ended', at: 5 })).toBe(false)
      await store().sessions.taint('nobody')
      await store().sessions.reopen('nobody', 'p')
      expect(await store().sessions.find('nobody')).toBeUndefined()
    })

    it('are tainted from the beginning only where they are said to be', async () => {
      await store().sessions.add(session('clean', { isTainted: false }))
      await store().sessions.add(session('tainted', { isTainted: true }))
      expect(await store().sessions.find('clean')).toMatchObject({ isTainted: false })
      expect(await store().sessions.find('tainted')).toMatchObject({ isTainted: true })
    })

    it('go on again where they have no runner', async () => {
      await store().sessions.add(session('r'))
      await store().sessions.end('r', { state: 'ended', reason: 'gone', at: 5 })
      await store().sessions.reopen('r', 'p')
      const again = await store().sessions.find('r')
      expect(again).toMatchObject({ state: 'running', owner: 'p', isTainted: false })
      expect(again).not.toHaveProperty('reason')
      expect(again).not.toHaveProperty('endedAt')
      await store().sessions.taint('r')
      expect(await store().sessions.find('r')).toMatchObject({ isTainted: true })
    })

    it('are listed newest first, by what is asked for, page by page', async () => {
      await store().sessions.add(session('r'))
      for (const [n, id] of ['a', 'b', 'c'].entries())
        await store().sessions.add(child(id, { label: id, createdAt: n + 2 }))
      await store().sessions.add(session('z', { root: 'z', rootPrincipal: 'token:ci' }))
      await store().sessions.end('b', { state: 'ended', at: 9 })
      const ids = async (filter: Parameters<Store['sessions']['list']>[0]) =>
        (await store().sessions.list(filter)).map(({ id }) => id).join('')
      expect(await ids({})).toBe('zcbar')
      expect(await ids({ root: 'r', state: 'running' })).toBe('car')
      expect(await ids({ parent: 'r' })).toBe('cba')
      expect(await ids({ rootPrincipal: 'token:ci' })).toBe('z')
      expect(await ids({ label: 'c' })).toBe('c')
      expect(await ids({ createdBefore: 3 })).toBe('zar')
      const { seq } = (await store().sessions.find('b'))!
      expect(await ids({ before: seq, limit: 1 })).toBe('a')
    })

    it('are found by their task in the index of runs, and so are their roots', async () => {
      const call = { seq: 3, tool: 'notes.save', status: 'ok', startedAt: 20 }
      const calls = [
        { ...call, callId: 'a', run: 'first', caller: 'agent', principal: 'token:ci', startedAt: 10 },
        { ...call, callId: 'b', run: 'second', caller: 'session:reader', principal: 'token:ci/second' },
        { ...call, callId: 'c', run: 'third', caller: 'cli:Anna', startedAt: 30 },
      ]
      await store().calls.put({ calls, runs: [] })
      await store().sessions.add(child('second', { root: 'first', task: 'Compare 50% of the Papers' }))
      const runs = async (filter: object) =>
        (await store().calls.runs({ limit: 10, ...filter })).map(({ run }) => run).join(' ')
      expect(await runs({ text: 'papers' })).toBe('second first')
      expect(await runs({ text: '50%', caller: 'session:reader' })).toBe('second')
      expect(await runs({ text: '50_' })).toBe('')
    })

    it('are forgotten a month after their end', async () => {
      await store().sessions.add(session('r'))
      await store().sessions.add(child('s'))
      await store().sessions.end('s', { state: 'ended', at: 1 })
      await store().sweep(SESSION_AGE_MS + 1)
      expect(await store().sessions.find('s')).toBeDefined()
      await store().sweep(SESSION_AGE_MS + 2)
      expect(await store().sessions.find('s')).toBeUndefined()
      expect(await store().sessions.find('r')).toBeDefined()
    })
  })

  describe(`the mail of ${name}`, () => {
    const put = (id: string, more = {}) =>
      store().mail.put(
        { id, inbox: 'a', sender: 'b', text: id, isTainted: false, sentAt: 1, ...more },
        { maxUnread: 3 },
      )
    const take = async (wish = {}) =>
      (await store().mail.take('a', { limit: 10, now: 9, ...wish })).map(({ id }) => id).join('')

    it('is given once, oldest first', async () => {
      for (const id of ['x', 'y', 'z']) await put(id)
      expect(await take({ limit: 2 })).toBe('xy')
      expect(await store().mail.unread('a')).toBe(1)
      expect(await take()).toBe('z')
      expect(await take()).toBe('')
    })

    it('waits in an inbox up to a number', async () => {
      for (const id of ['x', 'y', 'z']) expect(await put(id)).toBeGreaterThan(0)
      expect(await put('w')).toBeUndefined()
      expect(await put('w', { inbox: 'c' })).toBeGreaterThan(0)
      await take({ limit: 1 })
      expect(await put('w')).toBeGreaterThan(0)
    })

    it('finds the answer to one message, and leaves what answers another one or comes from others', async () => {
      await put('early')
      const seq = (await put('question', { inbox: 'b', sender: 'a' }))!
      await put('other', { replyTo: 'another' })
      await put('yes', { replyTo: 'question', isTainted: true })
      const answerTo = { id: 'question', seq, from: 'b' }
      expect(await take({ answerTo: { ...answerTo, from: 'c' } })).toBe('')
      const [answer] = await store().mail.take('a', { limit: 1, now: 9, answerTo })
      const yes = { id: 'yes', inbox: 'a', sender: 'b', text: 'yes', sentAt: 1, replyTo: 'question', isTainted: true }
      expect(answer).toEqual({ ...yes, seq: expect.any(Number), readAt: 9 })
      const other = (await store().mail.list({ session: 'a', limit: 9 })).find(({ id }) => id === 'other')!
      expect(await take({ answerTo: { id: 'another', seq: other.seq, from: 'b' } })).toBe('')
      await put('plain')
      expect(await take({ answerTo })).toBe('plain')
      expect(await take()).toBe('earlyother')
    })

    it('is listed for those who wrote it and those who got it, in both directions', async () => {
      const seqs = [await put('x'), await put('y', { inbox: 'b', sender: 'a' }), await put('z')] as number[]
      await put('w', { inbox: 'c', sender: 'd' })
      const list = async (filter: object) =>
        (await store().mail.list({ session: 'a', limit: 2, ...filter })).map(({ id }) => id).join('')
      expect(await list({})).toBe('yz')
      expect(await list({ before: seqs[1] })).toBe('x')
      expect(await list({ after: seqs[0] })).toBe('yz')
      expect(await list({ after: seqs[2] })).toBe('')
      expect(await list({ limit: 0 })).toBe('')
      expect(await list({ limit: 9 })).toBe('xyz')
      await store().sweep(SESSION_AGE_MS + 1)
      expect(await list({})).toBe('yz')
      await store().sweep(SESSION_AGE_MS + 2)
      expect(await list({})).toBe('')
    })
  })
}
