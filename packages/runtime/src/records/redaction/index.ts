export { createRedactor, DecisionRedactor, lookAtKeys, type Redactor } from './redact.ts'
export { secretVariables } from './variables.ts'
