import { join } from 'node:path'
import { openStore } from '@tool-hub/library/stores'
import { afterAll, expect, it } from 'vitest'
import { temporaryFolder } from '../../../../../test/support/temporary-folder.ts'
import { loadSqlite } from './database.ts'

const folder = join(temporaryFolder('sweep'), 'data')
const store = openStore(folder)
afterAll(() => store.close())
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** How many rows a table has. */
function rowsOf(table: string): unknown {
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'store.db'), { timeout: 10_000, readOnly: true })
  try {
    return (database.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get() as { n: number }).n
  } finally {
    database.close()
  }
}

it.each<[table: string, goesAt: number, add: () => unknown]>([
  [
    'idempotency_keys',
    100,
    async () => {
      await store.keys.claim('k', { argsHash: 'h', owner: 'o', now: 0 })
      await store.keys.finish('k', { owner: 'o', expiresAt: 100 })
    },
  ],
  ['budgets', 100, () => store.budgets.reserve([{ account: 'a', limits: {}, expiresAt: 100 }], 1)],
  ['rates', 1_100, () => store.rates.take([{ bucket: 'b', perSecond: 1, burst: 1 }], 100)],
  ['grants', 100, () => store.grants.put({ id: 'g', tool: 't', body: '{}', createdAt: 1, expiresAt: 100 })],
  ['sessions', 100, () => store.signIns.add({ hash: 'h', token: 't', body: '{}', createdAt: 1, expiresAt: 100 })],
  ['slots', 100, () => store.slots.lease('s', { owner: 'o', now: 0, until: 100 })],
  ['events', HOUR + 101, () => store.events.append({ topic: 't', body: '', at: 100 })],
  [
    'asks',
    30 * DAY + 101,
    () =>
      store.approvals.file({
        ...{ id: 'a', kind: 'approval', callId: 'c', run: 'r', tool: 't', caller: 'c', hash: 'h', request: '{}' },
        ...{ askedAt: 1, expiresAt: 100, owner: 'o' },
      }),
  ],
  [
    'agent_sessions',
    30 * DAY + 101,
    async () => {
      await store.sessions.add({
        ...{ id: 's', root: 's', depth: 0, rootPrincipal: 'owner', isTainted: false, createdAt: 1, owner: 'o' },
      })
      await store.sessions.end('s', { state: 'ended', at: 100 })
    },
  ],
  [
    'agent_mail',
    30 * DAY + 101,
    () =>
      store.mail.put({ id: 'm', inbox: 'i', sender: 's', text: '', isTainted: false, sentAt: 100 }, { maxUnread: 9 }),
  ],
])('takes what has expired out of the table %s', async (table, goesAt, add) => {
  await store.sweep(40 * DAY)
  await add()
  expect(rowsOf(table)).toBe(1)
  await store.sweep(goesAt - 1)
  expect(rowsOf(table)).toBe(1)
  await store.sweep(goesAt)
  expect(rowsOf(table)).toBe(0)
})

it('leaves the rate of a call that was refused as it was', async () => {
  const bucket = { bucket: 'slow', perSecond: 1, burst: 1 }
  await store.rates.take([bucket], 1_000)
  expect(await store.rates.take([bucket], 1_500)).toMatchObject({ ok: false })
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(join(folder, 'store.db'), { timeout: 10_000, readOnly: true })
  expect(database.prepare('SELECT tokens, filled_at FROM rates').all()).toEqual([{ tokens: 0, filled_at: 1_000 }])
  database.close()
})
