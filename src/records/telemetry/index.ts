export { Metrics } from './metrics.ts'
export { type CallSpan, startSpan } from './trace.ts'
