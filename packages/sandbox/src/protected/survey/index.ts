/** The current content of the roots: what commands must not change or see. */
export { ReadableEndpoints } from './readable-endpoints.ts'
export { Survey, type SurveyFindings, type SurveyOptions } from './survey.ts'
export type { LookOptions } from './survey-folder.ts'
