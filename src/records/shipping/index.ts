import { lazyModule } from '../../core/index.ts'

export { continueRecord } from './continue-record.ts'
export { bucketAddress, type RunSharing, UnsharedEnd } from './run-sharing.ts'
export type { SharedFile } from './shared-content.ts'
export { exportShared, isAhead, type SharedSource, sharedEvents } from './shared-lines.ts'
export type { SharedRecordAccess, SharedRecords, SharedRecordsOptions } from './shared-records.ts'
export { Shipper, type ShippingState } from './shipper.ts'
export { noteSharedSince, openSharedCheck, SharedCheck } from './verify-shared.ts'

/** Loads what shares records with other machines. */
export const loadSharedRecords = lazyModule(() => import('./shared-records.ts'))

/** Loads what verifies shared records. */
export const loadSharedCheck = lazyModule(() => import('./verify-shared.ts'), { isPreloaded: false })

/** Loads what reads shared records. */
export const loadSharedLines = lazyModule(() => import('./shared-lines.ts'))
