import {
  type Answer,
  type AnyTool,
  type BaseContext,
  CAPABILITY_OF_FEATURE,
  type Capability,
  type Content,
  type Evidence,
  FEATURES,
  type FeatureName,
  type GuardedFetch,
  type Question,
  type ReadFiles,
  ToolError,
  type ToolResult,
  type WriteFiles,
} from '@tool-hub/core'
import { artifactHash } from '@tool-hub/core/lib'
import type { RunState } from '../run-state.ts'
import type { Runtime } from '../runtime.ts'
import { askPerson } from './ask-person.ts'
import { type Call, type DecidedCall, refuseOnWorker } from './call.ts'
import { CallAuthority } from './call-authority.ts'
import { execHandle } from './exec-handle.ts'
import { featureCall } from './feature-handle.ts'
import { keyOf } from './limits.ts'
import { keepArtifact } from './record.ts'
import { holdRunLater } from './run-later.ts'
import { blocks, outputLimit } from './settle.ts'
import { emitEarly, labelChange, markEarly } from './taint.ts'

/**
 * Builds the context of `execute`, with the handles of the declared capabilities and nothing else. A handle is created when
 * the tool first reads it.
 */
export function buildContext(runtime: Runtime, run: RunState, decided: DecidedCall): BaseContext {
  const { capabilities } = decided.tool
  const Context = CLASSES.get(capabilities) ?? contextClass(capabilities)
  return new Context(new CallAuthority(runtime, run, decided))
}

type CreateHandle = (authority: CallAuthority) => unknown

/** Not a static method, which tools could reach: a tool that could get the call from its context would bypass the sandbox. */
let defineHandle: (prototype: object, handle: Handle) => void

class CallContext implements BaseContext {
  static {
    defineHandle = (prototype, { name, create }) => {
      Object.defineProperty(prototype, name, {
        get(this: CallContext) {
          this.#handles ??= new Map()
          if (!this.#handles.has(name)) this.#handles.set(name, create(this.#authority))
          return this.#handles.get(name)
        },
      })
    }
  }

  readonly callId: string
  readonly run: string
  readonly #authority: CallAuthority
  readonly #call: Call
  #handles: Map<string, unknown> | undefined

  constructor(authority: CallAuthority) {
    const { call } = authority
    this.callId = call.id
    this.run = call.run
    this.#authority = authority
    this.#call = call
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get cache() {
    return this.#authority.run.cache
  }

  get maxOutputChars(): number {
    return outputLimit(this.#authority.runtime, this.#authority.decided.valid.found)
  }

  get constraints() {
    return this.#authority.decided.decision.constraints
  }

  now(): number {
    return this.#authority.runtime.clock.now()
  }

  progress(update: Content): void {
    if (this.#call.ended) return
    const { runtime, run } = this.#authority
    const content = runtime.redactor.value(blocks(update, 'ctx.progress'))
    emitEarly(runtime, run, this.#call, { type: 'call-progressed', callId: this.callId, content })
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
    this.#call.report.notices.push(this.#authority.runtime.redactor.text(String(text)))
  }

  truncated(notice: string): void {
    this.notice(notice)
    this.#call.report.truncated ??= {}
  }

  async artifact(content: string | Uint8Array, options?: { readonly name?: string; readonly mediaType?: string }) {
    return keepArtifact(this.#authority.runtime, this.#authority.run, this.#call, content, options)
  }

  pending(message: string): void {
    this.#assertOpen()
    const { runtime, run } = this.#authority
    const { id: callId, name: tool } = this.#call
    const redacted = runtime.redactor.text(String(message))
    run.records?.append({ type: 'call-pending', callId, tool, message: redacted })
    emitEarly(runtime, run, this.#call, { type: 'call-pending', callId, tool, message: redacted })
  }

  async ask(question: Question): Promise<Answer> {
    this.#assertOpen()
    const { runtime, run } = this.#authority
    refuseOnWorker(run, this.#call, 'ask a person')
    markEarly(runtime, run, this.#call)
    await run.keptTaint?.synced()
    return askPerson(question, this.#call, runtime)
  }

  async call(tool: string | AnyTool, input: unknown): Promise<ToolResult> {
    this.#assertOpen()
    const { runtime, run } = this.#authority
    refuseOnWorker(run, this.#call, 'call other tools')
    markEarly(runtime, run, this.#call)
    return this.#authority.callNested(tool, input)
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
  return (authority) => authority.runtime.features.handle(name, featureCall(authority))
}

/** The capability that each use of a file needs. Overwriting a file destroys its content. */
const CAPABILITY_OF = { read: 'read:fs', write: 'write:fs', overwrite: 'danger:destructive' } as const

/** Creates the files handle of a call: limited to the declared capabilities and the decision, recorded before any change. */
export function filesHandle(authority: CallAuthority): Partial<ReadFiles & WriteFiles> {
  const { runtime, run, decided, call } = authority
  const { capabilities } = decided.tool
  // The journal keeps everything that the owner's own call replaces or removes, so nothing is destroyed.
  const canRestore = decided.tool.origin === 'owner'
  const needs = canRestore ? { ...CAPABILITY_OF, overwrite: 'write:fs' as const } : CAPABILITY_OF
  const files = run.sandbox.files().handle({
    signal: () => call.signal,
    isStopped: () => call.isStopped,
    isOwner: runtime.identity.principal === undefined,
    canRead: capabilities.has('read:fs'),
    canWrite: capabilities.has('write:fs'),
    canOverwrite: capabilities.has('danger:destructive') || canRestore,
    canRestore,
    maxBytes: decided.decision.constraints.maxBytes,
    maxFileBytes: decided.decision.constraints.maxFileBytes,
    permits: (path, use) => {
      authority.permits(needs[use], path)
      if (use !== 'read') holdRunLater(run, decided, path)
    },
    permitsIn: authority.readableFiles(),
    mayRead: (path) => authority.decide('read:fs', path).effect === 'allow',
    seen: run.seen,
    journal: capabilities.has('write:fs') ? authority.journal() : undefined,
    notice: (text) => call.report.notices.push(text),
    isUntrusted: (path) => runtime.untrusted.has(path),
    hasUntrusted: (folder, names) => runtime.untrusted.hasAny(folder, names),
    onUntrusted: (path) => authority.taints(path),
    onChange: (change) => labelChange(runtime, run, call, change),
  })
  const statesNoFile = capabilities.has('read:fs') && !decided.valid.capabilities.includes('read:fs')
  return statesNoFile ? withArtifacts(files, authority) : files
}

/** Creates the network handle of a call. A request that sends data is recorded before its first byte is sent. */
export function networkHandle(authority: CallAuthority): GuardedFetch {
  const { run, decided, call } = authority
  return run.sandbox.network().handle({
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    maxBytes: decided.decision.constraints.maxBytes,
    permits: (url, capability) => authority.permits(capability, url),
    beforeSend: () => authority.recordIntent(),
    onAnswer: (url) => authority.taints(url.origin),
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

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'search'] as const

type Read = (path: string, options?: unknown) => Promise<unknown>

/**
 * Lets a call without file targets read artifacts of its own run by reference. Policy does not decide on them again, since
 * the run already had their content; artifacts of other runs are not available. Whether content comes from outside is known
 * for the run and not for each artifact, so what is read in a run that is or was tainted is labelled.
 */
function withArtifacts<T extends Partial<ReadFiles>>(files: T, authority: CallAuthority): T {
  const { run, decided, call } = authority
  const openArtifacts = () =>
    run.sandbox.artifacts()?.handle({
      signal: () => call.signal,
      isStopped: () => call.isStopped,
      canRead: true,
      canWrite: false,
      canOverwrite: false,
      maxBytes: decided.decision.constraints.maxBytes,
      mayRead: () => true,
      isUntrusted: () => run.hasOutsideArtifacts,
      hasUntrusted: () => run.hasOutsideArtifacts,
      onUntrusted: () => authority.taints('artifacts of the run'),
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
