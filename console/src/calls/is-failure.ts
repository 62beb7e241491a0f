/** Whether a call of this status counts as failed: by the service's own rule, so that every number agrees with it. */
export { isFailure } from '../../../src/store/rules/index-call.ts'
