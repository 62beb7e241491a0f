import type { FeatureCall, Rights } from '@tool-hub/core'
import type { Runtime } from '../runtime.ts'
import type { Call } from './call.ts'
import type { CallAuthority } from './call-authority.ts'
import { keepArtifact } from './record.ts'
import { writesUntrusted } from './taint.ts'

const MAX_URL_LENGTH = 2_000

/** Returns a call as a feature sees it: limited to what policy decided, and recorded before anything changes. */
export function featureCall(authority: CallAuthority): FeatureCall {
  const { runtime, run, call } = authority
  return {
    callId: call.id,
    run: call.run,
    tool: call.name,
    session: call.options.session ?? call.run,
    caller: call.caller,
    principal: runtime.identity.principal,
    rights: rightsOf(runtime, call),
    get isTainted() {
      return writesUntrusted(run, call)
    },
    isApproved: call.approvedBy !== undefined,
    tools: () => runtime.catalog.cards(),
    dialectTools: () => runtime.catalog.dialectCards(),
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    permits: (capability, value) => authority.permits(capability, value),
    // Only `allow` permits: nobody is asked.
    allows(capability, value) {
      if (authority.names(capability, value)) return { ok: true }
      const { effect, rule } = authority.decideNext(capability, value)
      return effect === 'allow' ? { ok: true } : { ok: false, why: `not allowed by ${rule}`, effect }
    },
    beforeEffect: () => authority.recordIntent(),
    markUntrusted: (source) => authority.taints(source),
    addUserText: (texts) => runtime.people.userTexts.add(run, texts),
    recordConnection(url, outcome) {
      const connected = { callId: call.id, tool: call.name, url: url.slice(0, MAX_URL_LENGTH), outcome }
      run.records?.append(runtime.redactor.value({ type: 'command-connected', ...connected }))
    },
    notice(text) {
      if (!call.ended) call.report.notices.push(runtime.redactor.text(text))
    },
    markPending() {
      call.report.isPending = true
    },
    artifact: (content, options) => keepArtifact(runtime, run, call, content, options),
    readArtifact: (ref, options) =>
      runtime.runs.readArtifact(call.run, ref, { ...options, owner: runtime.identity.runOwner }),
    call: (tool, input, options) => authority.callNested(tool, input, options),
  }
}

function rightsOf({ identity: { rights: principal } }: Runtime, { caller, options }: Call): Rights {
  const { callerKind, grants } = options
  return { caller, ...(principal && { principal }), ...(callerKind && { callerKind }), ...(grants && { grants }) }
}
