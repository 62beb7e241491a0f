import type { StoreTests } from '@tool-hub/core'
import { processesSuite } from './processes.ts'
import { sharedRecordsSuite } from './shared-records.ts'
import { workerCallsSuite } from './worker-calls.ts'

/** The tests of what the processes of many machines keep in the store. */
export function machineSuite(tests: StoreTests): void {
  processesSuite(tests)
  sharedRecordsSuite(tests)
  workerCallsSuite(tests)
}
