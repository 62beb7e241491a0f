import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestPglite } from '../../../../test/support/pglite-store.ts'
import { storeSuite } from '../../../testing/src/store-suite.ts'

let database: TestPglite
let opened = 0
beforeAll(() => {
  database = new TestPglite()
})
afterAll(() => database.close())

storeSuite('a store in PGlite', ({ now }) => database.openStore(`t${++opened}`, now), { describe, it, expect })
