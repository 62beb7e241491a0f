export { createRedactor, DecisionRedactor, type Redactor } from './redact.ts'
export { lookAtKeys } from './redaction-walk.ts'
