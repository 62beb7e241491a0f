export { BudgetLedger, principalAccount, type Reservation } from './budget.ts'
export { Breakers, LoopDetector, retryDelayMs } from './failures.ts'
export {
  type Claim,
  defaultIdempotencyKey,
  Idempotency,
  KEY_TTL_MS,
  keyName,
  type NewKey,
  recordedKeyName,
} from './idempotency.ts'
export { type BoundInput, boundInput, checkJsonEntries, takeInput } from './input.ts'
export { cutHead, MAX_TOOL_OUTPUT_LENGTH, shortenText, truncateOutput } from './output.ts'
export { Concurrency, RateLimiter } from './throughput.ts'
