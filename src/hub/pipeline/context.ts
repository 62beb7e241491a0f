import {
  type Answer,
  type AnyTool,
  type Artifact,
  type BaseContext,
  CAPABILITY_OF_FEATURE,
  type Capability,
  type Content,
  type Evidence,
  FEATURES,
  type FeatureCall,
  type FeatureName,
  type Question,
  type Rights,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { askPerson } from './ask-person.ts'
import { type Call, type DecidedCall, emitEvent, markUntrusted } from './call.ts'
import { decideNow, holdToDecision, isNamed } from './decide.ts'
import { execHandle } from './exec-handle.ts'
import { filesHandle, networkHandle } from './handles.ts'
import { recordIntent } from './record.ts'
import { blocks, outputLimit } from './settle.ts'

/** Calls a tool from within a call, which becomes the parent. The nested call passes through the whole pipeline. */
export type CallNested = (runtime: Runtime, tool: string | AnyTool, input: unknown, parent: Call) => Promise<ToolResult>

/**
 * Builds the context of `execute`, with the handles of the declared capabilities and nothing else. A handle is created when
 * the tool first reads it.
 */
export function buildContext(runtime: Runtime, run: RunState, call: DecidedCall, callNested: CallNested): BaseContext {
  return new (contextClass(call.tool.capabilities))(runtime, run, call, callNested)
}

type CreateHandle = (runtime: Runtime, run: RunState, call: DecidedCall, callNested: CallNested) => unknown

/** Only for the getters below: a tool that could get the call from its context would bypass the sandbox. */
let handleOf: (context: CallContext, name: string, create: CreateHandle) => unknown

class CallContext implements BaseContext {
  static {
    handleOf = (context, name, create) => {
      context.#handles ??= new Map()
      const handles = context.#handles
      if (!handles.has(name))
        handles.set(name, create(context.#runtime, context.#run, context.#call, context.#callNested))
      return handles.get(name)
    }
  }

  readonly callId: string
  readonly run: string
  readonly #runtime: Runtime
  readonly #run: RunState
  readonly #call: DecidedCall
  readonly #callNested: CallNested
  #handles: Map<string, unknown> | undefined

  constructor(runtime: Runtime, run: RunState, call: DecidedCall, callNested: CallNested) {
    this.callId = call.id
    this.run = call.run
    this.#runtime = runtime
    this.#run = run
    this.#call = call
    this.#callNested = callNested
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get cache() {
    return this.#run.cache
  }

  get maxOutputChars(): number {
    return outputLimit(this.#runtime, this.#call)
  }

  get constraints() {
    return this.#call.decision.constraints
  }

  now(): number {
    return this.#runtime.clock.now()
  }

  progress(update: Content): void {
    if (this.#call.ended) return
    const content = this.#runtime.redactor.value(blocks(update))
    emitEvent(this.#runtime, this.#call, { type: 'call-progressed', callId: this.callId, content })
  }

  evidence(evidence: Evidence): void {
    this.#assertOpen()
    if (!isEvidence(evidence)) throw new TypeError('Evidence must be { type, ref, summary }, each a string.')
    this.#call.evidence.push(evidence)
  }

  notice(text: string): void {
    this.#assertOpen()
    this.#call.notices.push(this.#runtime.redactor.text(String(text)))
  }

  truncated(notice: string): void {
    this.notice(notice)
    this.#call.truncated ??= {}
  }

  async artifact(content: string | Uint8Array, options?: { readonly name?: string; readonly mediaType?: string }) {
    return keepArtifact(this.#runtime, this.#run, this.#call, content, options)
  }

  pending(message: string): void {
    this.#assertOpen()
    const { id: callId, name: tool } = this.#call
    const redacted = this.#runtime.redactor.text(String(message))
    this.#run.records?.append({ type: 'call-pending', callId, tool, message: redacted })
    emitEvent(this.#runtime, this.#call, { type: 'call-pending', callId, tool, message: redacted })
  }

  async ask(question: Question): Promise<Answer> {
    this.#assertOpen()
    return askPerson(question, this.#call, this.#runtime)
  }

  async call(tool: string | AnyTool, input: unknown): Promise<ToolResult> {
    this.#assertOpen()
    return this.#callNested(this.#runtime, tool, input, this.#call)
  }

  /** Throws if the call has ended: a tool that kept its context has no rights left. Handles check the signal themselves. */
  #assertOpen(): void {
    if (this.#call.ended) throw this.#call.over()
  }
}

interface Handle {
  readonly name: string
  readonly create: CreateHandle
}

const FILES: Handle = { name: 'fs', create: filesHandle }

const HANDLES: ReadonlyMap<Capability, Handle> = new Map<Capability, Handle>([
  ['read:fs', FILES],
  ['write:fs', FILES],
  ['network', { name: 'fetch', create: networkHandle }],
  ['exec', { name: 'exec', create: execHandle }],
  ...FEATURES.map((name) => [CAPABILITY_OF_FEATURE[name], { name, create: featureHandle(name) }] as const),
])

type ContextClass = typeof CallContext

/** One class for each set of handles: defining the getters for every call would cost more than most calls. */
const CLASSES = new WeakMap<ReadonlySet<Capability>, ContextClass>()
const BY_HANDLES = new Map<string, ContextClass>()

function contextClass(capabilities: ReadonlySet<Capability>): ContextClass {
  const known = CLASSES.get(capabilities)
  if (known) return known
  const handles = new Set(
    [...HANDLES].flatMap(([capability, handle]) => (capabilities.has(capability) ? [handle] : [])),
  )
  const key = [...handles].map(({ name }) => name).join(' ')
  const contextClass = BY_HANDLES.get(key) ?? defineContext(handles)
  BY_HANDLES.set(key, contextClass)
  CLASSES.set(capabilities, contextClass)
  return contextClass
}

function defineContext(handles: Iterable<Handle>): ContextClass {
  class ToolContext extends CallContext {}
  for (const { name, create } of handles) {
    Object.defineProperty(ToolContext.prototype, name, {
      get(this: CallContext) {
        return handleOf(this, name, create)
      },
    })
  }
  // Frozen because calls share the prototype: a tool must not change the contexts of others.
  Object.freeze(ToolContext.prototype)
  return ToolContext
}

Object.freeze(CallContext.prototype)

function featureHandle(name: FeatureName): CreateHandle {
  return (runtime, run, call, callNested) => {
    const nested = (tool: string, input: unknown) => callNested(runtime, tool, input, call)
    return runtime.features.handle(name, featureCall(runtime, run, call, nested))
  }
}

function isEvidence(evidence: Evidence): boolean {
  const { type, ref, summary } = evidence ?? {}
  return typeof type === 'string' && typeof ref === 'string' && typeof summary === 'string'
}

/** Stores redacted data as an artifact of the run and lists it in the result of the call. Throws if there are no records. */
export async function keepArtifact(
  { redactor }: Runtime,
  { records }: RunState,
  call: Call,
  content: string | Uint8Array,
  options?: { readonly name?: string; readonly mediaType?: string },
): Promise<Artifact> {
  if (call.ended) throw call.over()
  if (!records)
    throw new ToolError('RECORDS_UNAVAILABLE', 'This hub keeps no records, so it cannot store an artifact.', {
      hint: 'Create the hub with `runs` set to a folder.',
    })
  const kept = typeof content === 'string' ? redactor.text(content) : content
  const artifact = await records.putArtifact(kept, redactor.value(options))
  call.artifacts.push(artifact)
  return artifact
}

const MAX_URL_LENGTH = 2_000

/** Calls a tool on behalf of the call that a feature serves. */
type CallForFeature = (tool: string, input: unknown) => Promise<ToolResult>

/** Returns a call as a feature sees it: limited to what policy decided, and recorded before anything changes. */
export function featureCall(runtime: Runtime, run: RunState, call: DecidedCall, callTool: CallForFeature): FeatureCall {
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
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    permits: (capability, value) => holdToDecision(runtime, run, call, capability, value),
    allows: (capability, value) => allows(runtime, run, call, capability, value),
    beforeEffect: () => recordIntent(runtime, run, call),
    markUntrusted: () => markUntrusted(run, call),
    recordConnection(url, outcome) {
      const connected = { callId: call.id, tool: call.name, url: url.slice(0, MAX_URL_LENGTH), outcome }
      run.records?.append(runtime.redactor.value({ type: 'command-connected', ...connected }))
    },
    notice(text) {
      if (!call.ended) call.notices.push(runtime.redactor.text(text))
    },
    artifact: (content, options) => keepArtifact(runtime, run, call, content, options),
    readArtifact: (ref, options) => runtime.readArtifact(call.run, ref, options),
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
