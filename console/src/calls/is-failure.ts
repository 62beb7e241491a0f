/** What a status means: by the service's own rules, so that every number agrees with it. */
export { countsAsFailure, isDenial, isFailure } from '../../../src/store/rules/index-call.ts'
