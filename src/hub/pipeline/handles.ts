import {
  artifactHash,
  type Change,
  type GuardedFetch,
  type Journal,
  type ReadFiles,
  ToolError,
  type WriteFiles,
} from '../../core/index.ts'
import { createRunJournal } from '../../records/undo/index.ts'
import type { RunState, Runtime } from '../runtime.ts'
import { type DecidedCall, markUntrusted } from './call.ts'
import { decideNow, holdToDecision, isOwners } from './decide.ts'
import { beginChange, recordIntent, refuseEffects } from './record.ts'

/** The capability that each use of a file needs. Overwriting a file destroys its content. */
const CAPABILITY_OF = { read: 'read:fs', write: 'write:fs', overwrite: 'danger:destructive' } as const

/** Creates the files handle of a call: limited to the declared capabilities and the decision, recorded before any change. */
export function filesHandle(runtime: Runtime, run: RunState, call: DecidedCall): Partial<ReadFiles & WriteFiles> {
  const { capabilities } = call.tool
  // The journal keeps everything that the owner's own call replaces or removes, so nothing is destroyed.
  const canRestore = isOwners(call)
  const needs = canRestore ? { ...CAPABILITY_OF, overwrite: 'write:fs' as const } : CAPABILITY_OF
  const files = run.sandbox.files().handle({
    signal: () => call.signal,
    isStopped: () => call.isStopped,
    isOwner: runtime.principal === undefined,
    canRead: capabilities.has('read:fs'),
    canWrite: capabilities.has('write:fs'),
    canOverwrite: capabilities.has('danger:destructive') || canRestore,
    canRestore,
    maxBytes: call.decision.constraints.maxBytes,
    permits: (path, use) => holdToDecision(runtime, run, call, needs[use], path),
    mayRead: (path) => decideNow(runtime, run, call, 'read:fs', path).effect === 'allow',
    seen: run.seen,
    journal: capabilities.has('write:fs') ? journalOf(runtime, run, call) : undefined,
    notice: (text) => call.notices.push(text),
    isUntrusted: (path) => runtime.untrusted.has(path),
    onUntrusted: () => markUntrusted(run, call),
  })
  const statesNoFile = capabilities.has('read:fs') && !call.capabilities.includes('read:fs')
  return statesNoFile ? withArtifacts(files, run, call) : files
}

/** Creates the network handle of a call. A request that sends data is recorded before its first byte is sent. */
export function networkHandle(runtime: Runtime, run: RunState, call: DecidedCall): GuardedFetch {
  return run.sandbox.network().handle({
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    maxBytes: call.decision.constraints.maxBytes,
    permits: (url, capability) => holdToDecision(runtime, run, call, capability, url),
    beforeSend: () => recordIntent(runtime, run, call),
    onAnswer: () => markUntrusted(run, call),
    onRetry: () => call.attempts++,
    cache: run.responses,
    idempotencyKey: call.options.idempotencyKey,
    postRetries: call.decision.constraints.retries,
  })
}

function journalOf(runtime: Runtime, run: RunState, call: DecidedCall): Journal | undefined {
  const { records } = run
  if (!records) return undefined
  const { undoBytes, durability } = runtime.settings
  const maxBytes = isOwners(call) ? Number.POSITIVE_INFINITY : undoBytes
  const journal = createRunJournal(records, { callId: call.id, tool: call.name, maxBytes, durability })
  return {
    keepFile: (source, state) => journal.keepFile(source, state),
    placeForTree: (bytes) => journal.placeForTree(bytes),
    async intend(change) {
      beginChange(runtime, run, call)
      await journal.intend(change).catch(refuseEffects)
      noteOrigin(runtime, call, change)
    },
  }
}

/** Labels what an untrusted call writes as content from outside, for later runs too, and moves labels with their files. */
function noteOrigin({ untrusted }: Runtime, call: DecidedCall, change: Change): void {
  // A label on a folder would cover every file that is created there later.
  if (change.op === 'make-folder' || change.op === 'remove-folder') return
  if (change.op === 'move') untrusted.moved(change.path, change.to)
  // Also for content that is replaced or removed: undo restores it with another modification time.
  const isUntrusted = call.isUntrusted || untrusted.holds(change.path)
  if (isUntrusted) untrusted.add(change.op === 'move' ? change.to : change.path)
}

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'search'] as const

type Read = (path: string, options?: unknown) => Promise<unknown>

/**
 * Lets a call without file targets read artifacts of its own run by reference. Policy does not decide on them again, since
 * the run already had their content; artifacts of other runs are not available. Whether content comes from outside is known
 * for the run and not for each artifact, so what is read in a tainted run is labelled.
 */
function withArtifacts<T extends Partial<ReadFiles>>(files: T, run: RunState, call: DecidedCall): T {
  const openArtifacts = () =>
    run.sandbox.artifacts()?.handle({
      signal: () => call.signal,
      isStopped: () => call.isStopped,
      canRead: true,
      canWrite: false,
      canOverwrite: false,
      maxBytes: call.decision.constraints.maxBytes,
      mayRead: () => true,
      isUntrusted: () => run.tainted,
      onUntrusted: () => markUntrusted(run, call),
    })
  const reads = READS.map((name) => {
    const read: Read = async (path, options) => {
      const hash = artifactHash(path)
      if (hash === undefined) return (files[name] as Read).call(files, path, options)
      const artifacts = openArtifacts()
      if (!artifacts) throw missing(path)
      const found = await (artifacts[name] as Read)
        .call(artifacts, hash, options)
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
