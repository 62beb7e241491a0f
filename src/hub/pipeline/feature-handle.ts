import type { Capability, FeatureCall, Rights } from '../../core/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type Call, type DecidedCall, markUntrusted } from './call.ts'
import { decideNow, holdToDecision, isNamed } from './decide.ts'
import { keepArtifact, recordIntent } from './record.ts'

const MAX_URL_LENGTH = 2_000

/** Returns a call as a feature sees it: limited to what policy decided, and recorded before anything changes. */
export function featureCall(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  callTool: FeatureCall['call'],
): FeatureCall {
  return {
    callId: call.id,
    run: call.run,
    tool: call.name,
    session: call.options.session ?? call.run,
    caller: call.caller,
    principal: runtime.principal,
    rights: rightsOf(runtime, call),
    get isTainted() {
      return run.tainted
    },
    isApproved: call.approvedBy !== undefined,
    tools: () => runtime.catalog.cards(),
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    permits: (capability, value) => holdToDecision(runtime, run, call, capability, value),
    allows: (capability, value) => allows(runtime, run, call, capability, value),
    beforeEffect: () => recordIntent(runtime, run, call),
    markUntrusted: (source) => markUntrusted(run, call, source),
    addUserText: (texts) => runtime.userTexts.add(run, texts),
    recordConnection(url, outcome) {
      const connected = { callId: call.id, tool: call.name, url: url.slice(0, MAX_URL_LENGTH), outcome }
      run.records?.append(runtime.redactor.value({ type: 'command-connected', ...connected }))
    },
    notice(text) {
      if (!call.ended) call.notices.push(runtime.redactor.text(text))
    },
    artifact: (content, options) => keepArtifact(runtime, run, call, content, options),
    readArtifact: (ref, options) => runtime.runs.readArtifact(call.run, ref, { ...options, owner: runtime.runOwner }),
    call: callTool,
  }
}

function rightsOf({ rights: principal }: Runtime, { caller, options }: Call): Rights {
  const { callerKind, grants } = options
  return { caller, ...(principal && { principal }), ...(callerKind && { callerKind }), ...(grants && { grants }) }
}

/** Decides without asking anybody: only `allow` permits. */
function allows(
  runtime: Runtime,
  run: RunState,
  call: DecidedCall,
  capability: Capability,
  value: string,
): ReturnType<FeatureCall['allows']> {
  if (isNamed(call, capability, value)) return { ok: true }
  const { effect, rule } = decideNow(runtime, { tainted: run.taintedBeside(call.id) }, call, capability, value)
  return effect === 'allow' ? { ok: true } : { ok: false, why: `not allowed by ${rule}`, effect }
}
