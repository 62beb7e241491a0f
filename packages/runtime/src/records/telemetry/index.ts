export { type CallSpan, Metrics, startSpan } from './telemetry.ts'
