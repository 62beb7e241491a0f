export { openCandidates } from './candidates.ts'
export { DecisionRedactor } from './decision-redactor.ts'
export { createRedactor, type Redactor } from './redact.ts'
export { lookAtKeys } from './secret-keys.ts'
