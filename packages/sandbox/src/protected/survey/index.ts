/** The current content of the roots: what commands must not change or see. */
export type { LookOptions } from './look-options.ts'
export { ReadableEndpoints } from './readable-endpoints.ts'
export { Survey, type SurveyFindings, type SurveyOptions } from './survey.ts'
