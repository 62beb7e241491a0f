import {
  type Answer,
  type AnyTool,
  type Artifact,
  type BaseContext,
  CAPABILITY_OF_FEATURE,
  type Capability,
  type Commands,
  type Content,
  type Evidence,
  FEATURES,
  type FeatureCall,
  type FeatureName,
  type GuardedFetch,
  type Question,
  type Rights,
  ToolError,
  type ToolResult,
} from '../../core/index.ts'
import type { Parts, RunState } from '../runtime.ts'
import { askPerson } from './ask-person.ts'
import { type Call, emitEvent, markUntrusted } from './call.ts'
import { execHandle } from './exec-handle.ts'
import { decideNow, filesHandle, holdToDecision, networkHandle } from './handles.ts'
import { recordIntent } from './record.ts'
import { blocks, outputLimit } from './settle.ts'

/** How a nested `ctx.call` enters the road again. */
export type Enter = (tool: string | AnyTool, input: unknown, parent: Call) => Promise<ToolResult>

/**
 * Builds what `execute` gets: the handles of the declared capabilities and nothing else.
 * The getters keep a call that looks at nothing from paying for anything.
 */
export function buildContext(parts: Parts, run: RunState, call: Call, enter: Enter): BaseContext {
  return new (contextClass(call.tool!.capabilities))(parts, run, call, enter)
}

/** For the classes below and nobody else: whoever could ask a context for its call could open any door. */
let ofCall: (context: CallContext) => [Parts, RunState, Call, Enter]

class CallContext implements BaseContext {
  static {
    ofCall = (context) => [context.#parts, context.#run, context.#call, context.#enter]
  }

  readonly callId: string
  readonly run: string
  readonly #parts: Parts
  readonly #run: RunState
  readonly #call: Call
  readonly #enter: Enter

  constructor(parts: Parts, run: RunState, call: Call, enter: Enter) {
    this.callId = call.id
    this.run = call.run
    this.#parts = parts
    this.#run = run
    this.#call = call
    this.#enter = enter
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get cache() {
    return this.#run.cache
  }

  get maxOutputChars(): number {
    return outputLimit(this.#parts, this.#call)
  }

  get constraints() {
    return this.#call.decision?.constraints ?? {}
  }

  now(): number {
    return this.#parts.clock.now()
  }

  progress(update: Content): void {
    if (this.#call.ended) return
    const content = this.#parts.redactor.value(blocks(update))
    emitEvent(this.#parts, this.#call, { type: 'call-progressed', callId: this.callId, content })
  }

  evidence(evidence: Evidence): void {
    this.#assertOpen()
    if (!isEvidence(evidence)) throw new TypeError('Evidence is { type, ref, summary }, each a text.')
    this.#call.evidence.push(evidence)
  }

  notice(text: string): void {
    this.#assertOpen()
    this.#call.notices.push(this.#parts.redactor.text(String(text)))
  }

  truncated(notice: string): void {
    this.notice(notice)
    this.#call.truncated ??= {}
  }

  async artifact(content: string | Uint8Array, options?: { readonly name?: string; readonly mediaType?: string }) {
    return keepArtifact(this.#parts, this.#run, this.#call, content, options)
  }

  pending(message: string): void {
    this.#assertOpen()
    const { id: callId, name: tool } = this.#call
    const told = this.#parts.redactor.text(String(message))
    this.#run.records?.append({ type: 'call-pending', callId, tool, message: told })
    emitEvent(this.#parts, this.#call, { type: 'call-pending', callId, tool, message: told })
  }

  async ask(question: Question): Promise<Answer> {
    this.#assertOpen()
    return askPerson(question, this.#call, this.#parts)
  }

  async call(tool: string | AnyTool, input: unknown): Promise<ToolResult> {
    this.#assertOpen()
    return this.#enter(tool, input, this.#call)
  }

  /** A tool that kept its context has no more rights once the call is over; its file and network handles know by the signal. */
  #assertOpen(): void {
    if (this.#call.ended) throw this.#call.over()
  }
}

type ContextClass = typeof CallContext

/** What adds the handle of each capability. Those of files share one. */
const HANDLES: ReadonlyMap<Capability, (Base: ContextClass) => ContextClass> = new Map<
  Capability,
  (Base: ContextClass) => ContextClass
>([
  ['read:fs', withFiles],
  ['write:fs', withFiles],
  ['network', withNetwork],
  ['exec', withExec],
  ...FEATURES.map((name) => [CAPABILITY_OF_FEATURE[name], (Base: ContextClass) => withAbility(name, Base)] as const),
])

/** One class for each set of handles, made for the first tool that has it: to define them call by call would cost more than most calls. */
const CLASSES = new WeakMap<ReadonlySet<Capability>, ContextClass>()
const BY_HANDLES = new Map<string, ContextClass>()

function contextClass(capabilities: ReadonlySet<Capability>): ContextClass {
  const known = CLASSES.get(capabilities)
  if (known) return known
  const adding = new Set([...HANDLES].flatMap(([capability, add]) => (capabilities.has(capability) ? [add] : [])))
  const key = [...HANDLES.keys()].filter((capability) => capabilities.has(capability)).join(' ')
  const made = BY_HANDLES.get(key) ?? [...adding].reduce((Base, add) => frozen(add(Base)), CallContext)
  BY_HANDLES.set(key, made)
  CLASSES.set(capabilities, made)
  return made
}

/** One for all calls: a tool must not be able to change what others get. */
function frozen(Class: ContextClass): ContextClass {
  Object.freeze(Class.prototype)
  return Class
}

function withFiles(Base: ContextClass): ContextClass {
  return class extends Base {
    #fs: ReturnType<typeof filesHandle> | undefined

    get fs() {
      const [parts, run, call] = ofCall(this)
      this.#fs ??= filesHandle(parts, run, call)
      return this.#fs
    }
  }
}

function withNetwork(Base: ContextClass): ContextClass {
  return class extends Base {
    #fetch: GuardedFetch | undefined

    get fetch() {
      const [parts, run, call] = ofCall(this)
      this.#fetch ??= networkHandle(parts, run, call)
      return this.#fetch
    }
  }
}

function withExec(Base: ContextClass): ContextClass {
  return class extends Base {
    #exec: Commands | undefined

    get exec() {
      const [parts, run, call] = ofCall(this)
      this.#exec ??= execHandle(parts, run, call)
      return this.#exec
    }
  }
}

function withAbility(name: FeatureName, Base: ContextClass): ContextClass {
  const Extended = class extends Base {}
  const handles = new WeakMap<CallContext, unknown>()
  Object.defineProperty(Extended.prototype, name, {
    get(this: CallContext) {
      if (!handles.has(this)) handles.set(this, abilityHandle(name, ...ofCall(this)))
      return handles.get(this)
    },
  })
  return Extended
}

function abilityHandle(name: FeatureName, parts: Parts, run: RunState, call: Call, enter: Enter): unknown {
  const nested = (tool: string, input: unknown) => enter(tool, input, call)
  return parts.abilities.handle(name, featureCall(parts, run, call, nested))
}

frozen(CallContext)

function isEvidence(evidence: Evidence): boolean {
  const { type, ref, summary } = evidence ?? {}
  return typeof type === 'string' && typeof ref === 'string' && typeof summary === 'string'
}

/** Keeps something large with the run, redacted, and among the artifacts of the call's result. */
export async function keepArtifact(
  { redactor }: Parts,
  { records }: RunState,
  call: Call,
  content: string | Uint8Array,
  options?: { readonly name?: string; readonly mediaType?: string },
): Promise<Artifact> {
  if (call.ended) throw call.over()
  if (!records)
    throw new ToolError('RECORDS_UNAVAILABLE', 'This hub keeps no records, so there is no place for an artifact.', {
      hint: 'Make the hub with `runs` set to a folder.',
    })
  const kept = typeof content === 'string' ? redactor.text(content) : content
  const artifact = await records.putArtifact(kept, redactor.value(options))
  call.artifacts.push(artifact)
  return artifact
}

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
