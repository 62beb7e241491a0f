import { CAPABILITIES, type CallOptions, ToolError } from '../../core/index.ts'

const isText = (value: unknown): boolean => typeof value === 'string'

/** What each option of a call must be; callers without types, and surfaces that pass them on, are checked too. */
const CHECKS: ReadonlyMap<string, { readonly fits: (value: unknown) => boolean; readonly wanted: string }> = new Map([
  ...['run', 'session', 'caller', 'purpose', 'requestId', 'taskId', 'goalId'].map(
    (name) => [name, { fits: isText, wanted: 'a text' }] as const,
  ),
  ...['idempotencyKey', 'repeatKey'].map((name) => [name, { fits: isText, wanted: 'a text' }] as const),
  ['callerKind', { fits: (value) => value === 'direct' || value === 'script', wanted: 'direct or script' }],
  ['signal', { fits: (value) => value instanceof AbortSignal, wanted: 'an AbortSignal' }],
  ['timeoutMs', { fits: (value) => typeof value === 'number' && value > 0, wanted: 'a number above 0' }],
  ['untrusted', { fits: (value) => typeof value === 'boolean', wanted: 'true or false' }],
  ['dryRun', { fits: (value) => typeof value === 'boolean', wanted: 'true or false' }],
  ['onAsk', { fits: (value) => value === 'wait' || value === 'return', wanted: 'wait or return' }],
  ...['approve', 'onQuestion', 'onEvent'].map(
    (name) => [name, { fits: (value: unknown) => typeof value === 'function', wanted: 'a function' }] as const,
  ),
  ['grants', { fits: isCapabilityList, wanted: `a list of ${CAPABILITIES.join(', ')}` }],
])

/** Refuses options that no call can have. */
export function checkOptions(options: CallOptions): void {
  for (const name of Object.keys(options)) {
    const value = (options as Record<string, unknown>)[name]
    const check = CHECKS.get(name)
    if (value === undefined || check?.fits(value)) continue
    throw new ToolError(
      'CONFIG_INVALID',
      `The option ${name} of a call ${check ? `must be ${check.wanted}` : 'does not exist'}.`,
      {
        hint: `Options of a call: ${[...CHECKS.keys()].join(', ')}.`,
      },
    )
  }
}

function isCapabilityList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => (CAPABILITIES as readonly unknown[]).includes(item))
}
