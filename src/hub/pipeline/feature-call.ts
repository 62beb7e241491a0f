import type { Capability, FeatureCall, Rights, ToolResult } from '../../core/index.ts'
import type { Call } from './call.ts'
import { decideNow, holdToDecision } from './handles.ts'
import { keepArtifact } from './keep-artifact.ts'
import { markUntrusted } from './mark-untrusted.ts'
import type { Parts, RunState } from './parts.ts'
import { recordIntent } from './record.ts'

const MAX_URL_LENGTH = 2_000

/** How a nested call of an ability enters the road. */
type EnterNested = (tool: string, input: unknown) => Promise<ToolResult>

/** One call as an ability sees it: held to what was decided, on record before anything changes. */
export function featureCall(parts: Parts, run: RunState, call: Call, enter: EnterNested): FeatureCall {
  return {
    callId: call.id,
    run: call.run,
    tool: call.name,
    session: call.options.session ?? call.run,
    caller: call.caller,
    principal: parts.principal,
    rights: rightsOf(parts, call),
    get isTainted() {
      return run.tainted
    },
    isApproved: call.approvedBy !== undefined,
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    permits: (capability, value) => holdToDecision(parts, run, call, capability, value),
    allows: (capability, value) => allows(parts, run, call, capability, value),
    beforeEffect: () => recordIntent(parts, run, call),
    markUntrusted: () => markUntrusted(run, call),
    recordConnection(url, outcome) {
      const connected = { callId: call.id, tool: call.name, url: url.slice(0, MAX_URL_LENGTH), outcome }
      run.records?.append(parts.redactor.value({ type: 'command-connected', ...connected }))
    },
    notice(text) {
      if (!call.ended) call.notices.push(parts.redactor.text(text))
    },
    artifact: (content, options) => keepArtifact(parts, run, call, content, options),
    readArtifact: (ref, options) => parts.readArtifact(call.run, ref, options),
    call: enter,
  }
}

function rightsOf({ rights: principal }: Parts, { caller, options }: Call): Rights {
  const { callerKind, grants } = options
  return { caller, ...(principal && { principal }), ...(callerKind && { callerKind }), ...(grants && { grants }) }
}

/** Asked where nobody can be: only what is allowed outright is. */
function allows(
  parts: Parts,
  run: RunState,
  call: Call,
  capability: Capability,
  value: string,
): ReturnType<FeatureCall['allows']> {
  const isNamed = call.targets.some((target) => target.capability === capability && target.value === value)
  if (isNamed) return { ok: true }
  const { effect, rule } = decideNow(parts, { tainted: run.taintedBeside(call.id) }, call, capability, value)
  return effect === 'allow' ? { ok: true } : { ok: false, why: `not allowed by ${rule}`, effect }
}
