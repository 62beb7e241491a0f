export { createRedactor, DecisionRedactor, lookAtKeys, type Redactor } from './redact.ts'
