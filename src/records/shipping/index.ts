export { continueRecord } from './continue-record.ts'
export type { SharedSource } from './shared-lines.ts'
export { NOTHING_SHARED, type SharedPosition, Shipper } from './shipper.ts'
