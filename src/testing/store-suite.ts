import type { Awaitable, Store } from '../core/store.ts'
import { approvalsSuite } from './store/approvals.ts'
import { budgetsSuite } from './store/budgets.ts'
import { callsSuite } from './store/calls.ts'
import { canvasesSuite } from './store/canvases.ts'
import { eventsSuite } from './store/events.ts'
import { headsSuite } from './store/heads.ts'
import { inboxSuite } from './store/inbox.ts'
import { jobsSuite } from './store/jobs.ts'
import { keysSuite } from './store/keys.ts'
import { notesSuite } from './store/notes.ts'
import { ratesSuite } from './store/rates.ts'
import { schedulesSuite } from './store/schedules.ts'
import { sessionsSuite } from './store/sessions.ts'
import { SUITE_NOW, type SuiteRunner } from './store/suite-runner.ts'
import { tokensSuite } from './store/tokens.ts'

const PARTS = [
  keysSuite,
  budgetsSuite,
  ratesSuite,
  approvalsSuite,
  tokensSuite,
  jobsSuite,
  callsSuite,
  headsSuite,
  notesSuite,
  eventsSuite,
  inboxSuite,
  sessionsSuite,
  canvasesSuite,
  schedulesSuite,
]

/**
 * Defines the tests that every store must pass, whatever it is built on. `open` is called before each test and returns a
 * new and empty store, which uses the clock `now`; the suite closes it. It imports no test runner: pass the functions of
 * yours.
 * @example
 * import * as vitest from 'vitest'
 * storeSuite('my store', ({ now }) => createMemoryStore({ now }), vitest)
 */
export function storeSuite(
  name: string,
  open: (options: { readonly now: () => number }) => Awaitable<Store>,
  { describe, it, expect }: SuiteRunner,
): void {
  let current: Store | undefined
  const store = () => current!
  const withStore = (title: string, test: () => Awaitable<void>) =>
    it(title, async () => {
      const opened = await open({ now: () => SUITE_NOW })
      current = opened
      try {
        await test()
      } finally {
        await opened.close()
      }
    })
  for (const part of PARTS) part({ name, store, describe, it: withStore, expect })

  withStore(`${name} says that it works, as often as it is asked`, async () => {
    await store().check()
    await store().check()
  })
}
