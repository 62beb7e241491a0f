import {
  type Answer,
  type AnyTool,
  artifactHash,
  type BaseContext,
  CAPABILITY_OF_FEATURE,
  type Capability,
  type Content,
  type Evidence,
  FEATURES,
  type FeatureCall,
  type FeatureName,
  type GuardedFetch,
  type Journal,
  type NestedCallOptions,
  type Question,
  type ReadFiles,
  ToolError,
  type ToolResult,
  type WriteFiles,
} from '@tool-hub/core'
import { createRunJournal } from '../../records/undo/index.ts'
import type { RunLog, RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { askPerson } from './ask-person.ts'
import { type Call, type DecidedCall, refuseOnWorker } from './call.ts'
import { decideNow, holdToDecision, readableFiles } from './decide.ts'
import { execHandle } from './exec-handle.ts'
import { featureCall } from './feature-handle.ts'
import { keyOf } from './limits.ts'
import { beginChange, keepArtifact, recordIntent, refuseEffects } from './record.ts'
import { holdRunLater } from './run-later.ts'
import { blocks, outputLimit } from './settle.ts'
import { emitEarly, labelChange, markEarly, markUntrusted } from './taint.ts'

/** Calls a tool from within a call, which becomes the parent. The nested call passes through the whole pipeline. */
export type CallNested = (
  runtime: Runtime,
  tool: string | AnyTool,
  input: unknown,
  parent: Call,
  options?: NestedCallOptions,
) => Promise<ToolResult>

/**
 * Builds the context of `execute`, with the handles of the declared capabilities and nothing else. A handle is created when
 * the tool first reads it.
 */
export function buildContext(
  runtime: Runtime,
  run: RunState,
  decided: DecidedCall,
  callNested: CallNested,
): BaseContext {
  const { capabilities } = decided.tool
  const Context = CLASSES.get(capabilities) ?? contextClass(capabilities)
  return new Context(runtime, run, decided, callNested)
}

type CreateHandle = (runtime: Runtime, run: RunState, decided: DecidedCall, callNested: CallNested) => unknown

/** Not a static method, which tools could reach: a tool that could get the call from its context would bypass the sandbox. */
let defineHandle: (prototype: object, handle: Handle) => void

class CallContext implements BaseContext {
  static {
    defineHandle = (prototype, { name, create }) => {
      Object.defineProperty(prototype, name, {
        get(this: CallContext) {
          this.#handles ??= new Map()
          if (!this.#handles.has(name))
            this.#handles.set(name, create(this.#runtime, this.#run, this.#decided, this.#callNested))
          return this.#handles.get(name)
        },
      })
    }
  }

  readonly callId: string
  readonly run: string
  readonly #runtime: Runtime
  readonly #run: RunState
  readonly #decided: DecidedCall
  readonly #call: Call
  readonly #callNested: CallNested
  #handles: Map<string, unknown> | undefined

  constructor(runtime: Runtime, run: RunState, decided: DecidedCall, callNested: CallNested) {
    const { call } = decided
    this.callId = call.id
    this.run = call.run
    this.#runtime = runtime
    this.#run = run
    this.#decided = decided
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
    return outputLimit(this.#runtime, this.#decided.valid.found)
  }

  get constraints() {
    return this.#decided.decision.constraints
  }

  now(): number {
    return this.#runtime.clock.now()
  }

  progress(update: Content): void {
    if (this.#call.ended) return
    const content = this.#runtime.redactor.value(blocks(update, 'ctx.progress'))
    emitEarly(this.#runtime, this.#run, this.#call, { type: 'call-progressed', callId: this.callId, content })
  }

  evidence(evidence: Evidence): void {
    if (this.#call.ended) throw this.#call.over()
    const { type, ref, summary } = evidence ?? {}
    if (typeof type !== 'string' || typeof ref !== 'string' || typeof summary !== 'string')
      throw new TypeError('Evidence must be { type, ref, summary }, each a string.')
    this.#call.report.evidence.push(evidence)
  }

  notice(text: string): void {
    this.#assertOpen()
    this.#call.report.notices.push(this.#runtime.redactor.text(String(text)))
  }

  truncated(notice: string): void {
    this.notice(notice)
    this.#call.report.truncated ??= {}
  }

  async artifact(content: string | Uint8Array, options?: { readonly name?: string; readonly mediaType?: string }) {
    return keepArtifact(this.#runtime, this.#run, this.#call, content, options)
  }

  pending(message: string): void {
    this.#assertOpen()
    const { id: callId, name: tool } = this.#call
    const redacted = this.#runtime.redactor.text(String(message))
    this.#run.records?.append({ type: 'call-pending', callId, tool, message: redacted })
    emitEarly(this.#runtime, this.#run, this.#call, { type: 'call-pending', callId, tool, message: redacted })
  }

  async ask(question: Question): Promise<Answer> {
    this.#assertOpen()
    refuseOnWorker(this.#run, this.#call, 'ask a person')
    markEarly(this.#runtime, this.#run, this.#call)
    await this.#run.keptTaint?.synced()
    return askPerson(question, this.#call, this.#runtime)
  }

  async call(tool: string | AnyTool, input: unknown): Promise<ToolResult> {
    this.#assertOpen()
    refuseOnWorker(this.#run, this.#call, 'call other tools')
    markEarly(this.#runtime, this.#run, this.#call)
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
  for (const handle of handles) defineHandle(ToolContext.prototype, handle)
  // Frozen because calls share the prototype: a tool must not change the contexts of others.
  Object.freeze(ToolContext.prototype)
  return ToolContext
}

Object.freeze(CallContext.prototype)

function featureHandle(name: FeatureName): CreateHandle {
  return (runtime, run, call, callNested) => {
    const nested: FeatureCall['call'] = (tool, input, options) => callNested(runtime, tool, input, call.call, options)
    return runtime.features.handle(name, featureCall(runtime, run, call, nested))
  }
}

/** The capability that each use of a file needs. Overwriting a file destroys its content. */
const CAPABILITY_OF = { read: 'read:fs', write: 'write:fs', overwrite: 'danger:destructive' } as const

/** Creates the files handle of a call: limited to the declared capabilities and the decision, recorded before any change. */
export function filesHandle(runtime: Runtime, run: RunState, decided: DecidedCall): Partial<ReadFiles & WriteFiles> {
  const { capabilities } = decided.tool
  // The journal keeps everything that the owner's own call replaces or removes, so nothing is destroyed.
  const canRestore = decided.tool.origin === 'owner'
  const needs = canRestore ? { ...CAPABILITY_OF, overwrite: 'write:fs' as const } : CAPABILITY_OF
  const files = run.sandbox.files().handle({
    signal: () => decided.call.signal,
    isStopped: () => decided.call.isStopped,
    isOwner: runtime.identity.principal === undefined,
    canRead: capabilities.has('read:fs'),
    canWrite: capabilities.has('write:fs'),
    canOverwrite: capabilities.has('danger:destructive') || canRestore,
    canRestore,
    maxBytes: decided.decision.constraints.maxBytes,
    maxFileBytes: decided.decision.constraints.maxFileBytes,
    permits: (path, use) => {
      holdToDecision(runtime, run, decided, needs[use], path)
      if (use !== 'read') holdRunLater(run, decided, path)
    },
    permitsIn: readableFiles(runtime, run, decided),
    mayRead: (path) => decideNow(runtime, run, decided, 'read:fs', path).effect === 'allow',
    seen: run.seen,
    journal: capabilities.has('write:fs') ? journalOf(runtime, run, decided) : undefined,
    notice: (text) => decided.call.report.notices.push(text),
    isUntrusted: (path) => runtime.untrusted.has(path),
    hasUntrusted: (folder, names) => runtime.untrusted.hasAny(folder, names),
    onUntrusted: (path) => markUntrusted(run, decided.call, path),
    onChange: (change) => labelChange(runtime, run, decided.call, change),
  })
  const statesNoFile = capabilities.has('read:fs') && !decided.valid.capabilities.includes('read:fs')
  return statesNoFile ? withArtifacts(files, run, decided) : files
}

/** Creates the network handle of a call. A request that sends data is recorded before its first byte is sent. */
export function networkHandle(runtime: Runtime, run: RunState, decided: DecidedCall): GuardedFetch {
  const { call } = decided
  return run.sandbox.network().handle({
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    maxBytes: decided.decision.constraints.maxBytes,
    permits: (url, capability) => holdToDecision(runtime, run, decided, capability, url),
    beforeSend: () => recordIntent(runtime, run, call),
    onAnswer: (url) => markUntrusted(run, call, url.origin),
    onRetry: () => {
      if (call.execution) call.execution.attempts++
    },
    cache: run.responses,
    onPost: (hasFailedTemporarily) => {
      const onlySends = decided.valid.capabilities.every(
        (capability) => capability === 'network' || capability === 'send',
      )
      const { execution } = call
      if (execution) execution.mayRepeat = onlySends && hasFailedTemporarily && execution.mayRepeat !== false
    },
    idempotencyKey: keyOf(call),
    postRetries: decided.decision.constraints.retries,
  })
}

function journalOf(runtime: Runtime, run: RunState, decided: DecidedCall): Journal | undefined {
  const { records } = run
  // A worker keeps no journal: the process of the run cannot undo changes on another machine.
  if (!records || !hasFolder(records)) return undefined
  const { undoBytes, durability } = runtime.settings
  const maxBytes = decided.tool.origin === 'owner' ? Number.POSITIVE_INFINITY : undoBytes
  const journal = createRunJournal(records, { callId: decided.call.id, tool: decided.call.name, maxBytes, durability })
  return {
    keepFile: (source, state) => journal.keepFile(source, state),
    placeForTree: (bytes) => journal.placeForTree(bytes),
    async intend(change) {
      beginChange(runtime, run, decided.call)
      await journal.intend(change).catch(refuseEffects)
    },
  }
}

function hasFolder(records: RunLog): records is RunLog & { readonly folder: string } {
  return records.folder !== undefined
}

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'search'] as const

type Read = (path: string, options?: unknown) => Promise<unknown>

/**
 * Lets a call without file targets read artifacts of its own run by reference. Policy does not decide on them again, since
 * the run already had their content; artifacts of other runs are not available. Whether content comes from outside is known
 * for the run and not for each artifact, so what is read in a run that is or was tainted is labelled.
 */
function withArtifacts<T extends Partial<ReadFiles>>(files: T, run: RunState, decided: DecidedCall): T {
  const openArtifacts = () =>
    run.sandbox.artifacts()?.handle({
      signal: () => decided.call.signal,
      isStopped: () => decided.call.isStopped,
      canRead: true,
      canWrite: false,
      canOverwrite: false,
      maxBytes: decided.decision.constraints.maxBytes,
      mayRead: () => true,
      isUntrusted: () => run.hasOutsideArtifacts,
      hasUntrusted: () => run.hasOutsideArtifacts,
      onUntrusted: () => markUntrusted(run, decided.call, 'artifacts of the run'),
    })
  const reads = READS.map((name) => {
    const read: Read = async (path, options) => {
      const hash = artifactHash(path)
      if (hash === undefined) return (files[name] as Read).call(files, path, options)
      const artifacts = openArtifacts()
      if (!artifacts) throw missing(path)
      const readArtifact = () => (artifacts[name] as Read).call(artifacts, hash, options)
      const found = await readArtifact()
        .catch(async (error) => {
          const isElsewhere = ToolError.is(error) && error.code === 'NOT_FOUND'
          if (isElsewhere && (await run.records?.fetchArtifact?.(hash))) return readArtifact()
          throw error
        })
        .catch((error) => rethrow(error, path, hash))
      if (name === 'readFile' && (found as { sha256: string }).sha256 !== hash) throw changed(path)
      return found
    }
    return [name, read]
  })
  const others = { list: files.list?.bind(files), find: files.find?.bind(files) }
  return { ...files, ...others, ...Object.fromEntries(reads) }
}

/** Rethrows an error with the reference of the artifact in place of its hash, which is the file name. */
function rethrow(error: unknown, ref: string, hash: string): never {
  if (!ToolError.is(error)) throw error
  if (error.code === 'NOT_FOUND') throw missing(ref)
  const { code, message, fix, retryable, details } = error
  throw new ToolError(code, message.replaceAll(JSON.stringify(hash), ref), { fix, retryable, details, cause: error })
}

function missing(ref: string): ToolError {
  return new ToolError('NOT_FOUND', `This run has no ${ref}.`, { hint: 'Artifacts belong to the run that made them.' })
}

function changed(ref: string): ToolError {
  return new ToolError('CONFLICT', `${ref} was changed after it was stored.`, {
    hint: 'Do not use it; make it again, and run audit verify.',
  })
}
