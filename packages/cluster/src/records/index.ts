import { lazyModule } from '@tool-hub/core'

export { bucketAddress } from './bucket-address.ts'
export type { SharedRecordAccess, SharedRecords, SharedRecordsOptions } from './shared-records.ts'
export type { ShippingState } from './shipper.ts'
export type { SharedCheck } from './verify-shared.ts'

/** Loads what shares records with other machines. */
export const loadSharedRecords = lazyModule(() => import('./shared-records.ts'))

/** Loads what verifies shared records. */
export const loadSharedCheck = lazyModule(() => import('./verify-shared.ts'))

/** Loads what reads shared records. */
export const loadSharedLines = lazyModule(() => import('./shared-lines.ts'))
