import type { Capability, FeatureCall, Rights } from '@tool-hub/core'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import type { Call, DecidedCall } from './call.ts'
import { decideNow, holdToDecision, isNamed } from './decide.ts'
import { keepArtifact, recordIntent } from './record.ts'
import { markUntrusted, writesUntrusted } from './taint.ts'

const MAX_URL_LENGTH = 2_000

/** Returns a call as a feature sees it: limited to what policy decided, and recorded before anything changes. */
export function featureCall(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  callTool: FeatureCall['call'],
): FeatureCall {
  return {
    callId: decided.call.id,
    run: decided.call.run,
    tool: decided.call.name,
    session: decided.call.options.session ?? decided.call.run,
    caller: decided.call.caller,
    principal: runtime.identity.principal,
    rights: rightsOf(runtime, decided.call),
    get isTainted() {
      return writesUntrusted(run, decided.call)
    },
    isApproved: decided.call.approvedBy !== undefined,
    tools: () => runtime.catalog.cards(),
    dialectTools: () => runtime.catalog.dialectCards(),
    signal: () => decided.call.signal,
    onStop: (listener) => decided.call.onStop(listener),
    permits: (capability, value) => holdToDecision(runtime, run, decided, capability, value),
    allows: (capability, value) => allows(runtime, run, decided, capability, value),
    beforeEffect: () => recordIntent(runtime, run, decided.call),
    markUntrusted: (source) => markUntrusted(run, decided.call, source),
    addUserText: (texts) => runtime.people.userTexts.add(run, texts),
    recordConnection(url, outcome) {
      const connected = { callId: decided.call.id, tool: decided.call.name, url: url.slice(0, MAX_URL_LENGTH), outcome }
      run.records?.append(runtime.redactor.value({ type: 'command-connected', ...connected }))
    },
    notice(text) {
      if (!decided.call.ended) decided.call.report.notices.push(runtime.redactor.text(text))
    },
    markPending() {
      decided.call.report.isPending = true
    },
    artifact: (content, options) => keepArtifact(runtime, run, decided.call, content, options),
    readArtifact: (ref, options) =>
      runtime.runs.readArtifact(decided.call.run, ref, { ...options, owner: runtime.identity.runOwner }),
    call: callTool,
  }
}

function rightsOf({ identity: { rights: principal } }: Runtime, { caller, options }: Call): Rights {
  const { callerKind, grants } = options
  return { caller, ...(principal && { principal }), ...(callerKind && { callerKind }), ...(grants && { grants }) }
}

/** Decides without asking anybody: only `allow` permits. */
function allows(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  capability: Capability,
  value: string,
): ReturnType<FeatureCall['allows']> {
  if (isNamed(decided.valid, capability, value)) return { ok: true }
  const { effect, rule } = decideNow(
    runtime,
    { tainted: run.taintedBeside(decided.call.id) },
    decided,
    capability,
    value,
  )
  return effect === 'allow' ? { ok: true } : { ok: false, why: `not allowed by ${rule}`, effect }
}
