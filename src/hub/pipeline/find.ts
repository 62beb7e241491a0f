import { type AnyTool, CAPABILITIES, type CallOptions, ToolError } from '../../core/index.ts'
import type { Runtime } from '../runtime.ts'
import type { Call, FoundCall } from './call.ts'

const MAX_NAME_CHARS = 128
/** The maximum depth of nested calls. */
const MAX_CALL_DEPTH = 32

/** Waits for a source that may still provide the tool. Returns `undefined` if the tool exists or no source can provide it. */
export function toolArrival({ registry, sources }: Runtime, asked: string | AnyTool): Promise<unknown> | undefined {
  return typeof asked === 'string' && !registry.find(asked) ? sources.arriving(asked) : undefined
}

/** Step 1: finds the tool by canonical, wire or dialect name. Throws TOOL_NOT_FOUND or TOOL_DISABLED. */
export function findTool(runtime: Runtime, call: Call, asked: string | AnyTool): FoundCall {
  const name = typeof asked === 'string' ? asked : String(asked?.name)
  const found = runtime.registry.find(name)
  if (!found) {
    // A name from a model may be anything, even a secret.
    call.wire = runtime.redactor.text(name.slice(0, MAX_NAME_CHARS))
    throw runtime.sources.problem(name) ?? runtime.plugins.problem(name) ?? runtime.registry.notFound(call.wire)
  }
  if (call.depth > MAX_CALL_DEPTH) {
    throw new ToolError('LOOP_DETECTED', `${name} is nested ${call.depth} calls deep; the limit is ${MAX_CALL_DEPTH}.`)
  }
  if (typeof asked !== 'string' && found.entry.tool !== asked) {
    throw new ToolError('TOOL_NOT_FOUND', `This hub has a different tool named ${name}.`, {
      hint: 'Call the tool that was passed to createToolHub or hub.use.',
    })
  }
  call.tool = found.entry
  call.dialect = found.dialect
  const sight = runtime.sees(found.entry)
  if (!sight.visible) throw new ToolError('TOOL_DISABLED', `${call.name} is not visible here: ${sight.why}`)
  if (call.abortReason) throw call.abortReason
  return call as FoundCall
}

const isText = (value: unknown): boolean => typeof value === 'string'

/** The check for each option of a call: callers in plain JavaScript and transports may pass anything. */
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

/** Throws if an option of a call is unknown or invalid. */
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
