import { afterEach, beforeEach, it } from 'vitest'
import type { Store } from '../store.ts'
import { asksSuite } from './suite/asks-suite.ts'
import { budgetsSuite } from './suite/budgets-suite.ts'
import { canvasesSuite } from './suite/canvases-suite.ts'
import { eventsSuite } from './suite/events-suite.ts'
import { headsSuite } from './suite/heads-suite.ts'
import { inboxSuite } from './suite/inbox-suite.ts'
import { indexSuite } from './suite/index-suite.ts'
import { keysSuite } from './suite/keys-suite.ts'
import { memorySuite } from './suite/memory-suite.ts'
import { ratesSuite } from './suite/rates-suite.ts'
import { schedulesSuite } from './suite/schedules-suite.ts'
import { sessionsSuite } from './suite/sessions-suite.ts'
import { signInSuite } from './suite/sign-in-suite.ts'
import { workSuite } from './suite/work-suite.ts'

const PARTS = [
  keysSuite,
  budgetsSuite,
  ratesSuite,
  asksSuite,
  signInSuite,
  workSuite,
  indexSuite,
  headsSuite,
  memorySuite,
  eventsSuite,
  inboxSuite,
  sessionsSuite,
  canvasesSuite,
  schedulesSuite,
]

/** What every store must do, whatever it is built on; `open` gives a new and empty one. */
export function storeSuite(name: string, open: () => Store | Promise<Store>): void {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  for (const part of PARTS) part(name, () => store)

  it(`${name} says that it works, as often as it is asked`, async () => {
    await store.check()
    await store.check()
  })
}
