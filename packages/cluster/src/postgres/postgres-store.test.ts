import { randomBytes } from 'node:crypto'
import { openPostgresStore } from '@tool-hub/library/stores'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startPostgres, type TestPostgres } from '../../../../test/support/postgres.ts'
import { storeSuite } from '../../../testing/src/store-suite.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.close())

const newSchema = () => `t_${randomBytes(6).toString('hex')}`

storeSuite('a store in PostgreSQL', ({ now }) => openPostgresStore(server.url, { schema: newSchema(), now }), {
  describe,
  it,
  expect,
})
