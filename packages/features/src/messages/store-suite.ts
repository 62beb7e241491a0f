import type { StoreTests } from '@tool-hub/core'
import type { InboxMessage } from './types.ts'

/** What agents told the people at the console. */
export function messagesSuite({ name, store, describe, it, expect }: StoreTests): void {
  describe(`the inbox of ${name}`, () => {
    const add = (n: number, more: Partial<InboxMessage> = {}, most = 100) =>
      store().inbox.add({ ...MESSAGE, id: `inbox-${n}`, at: n, ...more }, most)
    const ids = async (filter: { unread?: boolean; before?: string; limit?: number } = {}) =>
      (await store().inbox.list({ limit: 10, ...filter })).map(({ id }) => id.slice(6)).join(' ')

    it('returns the stored messages, newest first, page by page', async () => {
      const whole = {
        title: 'Done',
        principal: 'token:ci',
        isUntrusted: true,
        attachments: [{ ref: 'artifact:a', name: 'a.txt', bytes: 3 }],
      }
      await add(1)
      await add(3, whole)
      await add(2)
      await add(2, { text: 'the same id again' })
      expect(await ids()).toBe('3 2 1')
      expect(await ids({ limit: 1 })).toBe('3')
      expect(await ids({ before: 'inbox-3' })).toBe('2 1')
      const [newest, second] = await store().inbox.list({ limit: 2 })
      expect(newest).toEqual({ ...MESSAGE, id: 'inbox-3', at: 3, ...whole })
      expect(second).toEqual({ ...MESSAGE, id: 'inbox-2', at: 2 })
    })

    it('knows what was read, and by an edit it is unread again, with other words, which may be untrusted', async () => {
      for (const n of [1, 2, 3]) await add(n, { title: 'Old' })
      expect(await store().inbox.markRead(['inbox-1', 'inbox-1', 'nowhere'], 50)).toBe(1)
      expect(await store().inbox.countUnread()).toBe(2)
      expect(await ids({ unread: true })).toBe('3 2')
      expect(await store().inbox.markRead(undefined, 60)).toBe(2)
      expect(await store().inbox.markRead(undefined, 70)).toBe(0)
      const words = { level: 'error', text: 'Other words', isUntrusted: true } as const
      expect(await store().inbox.edit('inbox-2', 'another run', words, 80)).toBe(false)
      expect(await store().inbox.edit('inbox-2', MESSAGE.run, words, 80)).toBe(true)
      expect(await store().inbox.list({ unread: true, limit: 10 })).toEqual([
        { ...MESSAGE, id: 'inbox-2', at: 2, ...words, editedAt: 80 },
      ])
      expect((await store().inbox.list({ limit: 1 }))[0]).toMatchObject({ readAt: 60 })
      await store().inbox.edit('inbox-2', MESSAGE.run, { ...words, isUntrusted: false }, 90)
      expect(await store().inbox.list({ unread: true, limit: 10 })).toMatchObject([{ isUntrusted: true }])
    })

    it('has the title and the words of the last edit', async () => {
      await add(1)
      const words = { level: 'warning', title: 'New', text: 'Words', isUntrusted: false } as const
      expect(await store().inbox.edit('inbox-1', MESSAGE.run, words, 5)).toBe(true)
      expect(await store().inbox.edit('nowhere', MESSAGE.run, words, 5)).toBe(false)
      expect(await store().inbox.list({ limit: 9 })).toEqual([
        { ...MESSAGE, id: 'inbox-1', at: 1, ...words, editedAt: 5 },
      ])
      await store().inbox.markRead(['inbox-1'], 6)
      await store().inbox.markRead(['inbox-1'], 7)
      expect((await store().inbox.list({ limit: 9 }))[0]).toMatchObject({ readAt: 6 })
    })

    it('forgets what is removed, and the oldest when there are too many', async () => {
      for (const n of [1, 2, 3, 4]) await add(n, {}, 3)
      expect(await ids()).toBe('4 3 2')
      expect(await store().inbox.remove('inbox-3')).toBe(true)
      expect(await store().inbox.remove('inbox-3')).toBe(false)
      expect(await ids()).toBe('4 2')
    })
  })
}

const MESSAGE = {
  level: 'info',
  text: 'The build is green.',
  caller: 'agent',
  run: 'run-1',
  callId: 'c1',
  isUntrusted: false,
  attachments: [],
} as const
