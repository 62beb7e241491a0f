import {
  artifactHash,
  type Capability,
  type Change,
  type GuardedFetch,
  type Journal,
  type ReadFiles,
  ToolError,
  type WriteFiles,
} from '../../core/index.ts'
import { type Decision, decide } from '../../policy/index.ts'
import { createRunJournal } from '../../records/undo/index.ts'
import type { Parts, RunState } from '../runtime.ts'
import { type Call, markUntrusted } from './call.ts'
import { question } from './decide.ts'
import { beginChange, recordIntent, refuseEffects } from './record.ts'

/** All that a decision looks at of a run. */
type Taint = Pick<RunState, 'tainted'>

/** What each use of a file needs; replacing one destroys what was there. */
const CAPABILITY_OF = { read: 'read:fs', write: 'write:fs', overwrite: 'danger:destructive' } as const

/** The files of one call: what its tool declared, held to what was decided, on record before anything changes. */
export function filesHandle(parts: Parts, run: RunState, call: Call): Partial<ReadFiles & WriteFiles> {
  const { capabilities } = call.tool!
  // What the owner's own call replaces or removes is kept by its journal, all of it: nothing is destroyed.
  const canRestore = isOwners(call)
  const needs = canRestore ? { ...CAPABILITY_OF, overwrite: 'write:fs' as const } : CAPABILITY_OF
  const files = run.doors.files().handle({
    signal: () => call.signal,
    isStopped: () => call.isStopped,
    isOwner: parts.principal === undefined,
    canRead: capabilities.has('read:fs'),
    canWrite: capabilities.has('write:fs'),
    canOverwrite: capabilities.has('danger:destructive') || canRestore,
    canRestore,
    maxBytes: call.decision?.constraints.maxBytes,
    permits: (path, use) => holdToDecision(parts, run, call, needs[use], path),
    mayRead: (path) => decideNow(parts, run, call, 'read:fs', path).effect === 'allow',
    seen: run.seen,
    journal: capabilities.has('write:fs') ? journalOf(parts, run, call) : undefined,
    notice: (text) => call.notices.push(text),
    isUntrusted: (path) => parts.untrusted.has(path),
    onUntrusted: () => markUntrusted(run, call),
  })
  const statesNoFile = capabilities.has('read:fs') && !call.capabilities.includes('read:fs')
  return statesNoFile ? withArtifacts(files, run, call) : files
}

/** The network of one call; a request that sends something is on record before its first byte goes out. */
export function networkHandle(parts: Parts, run: RunState, call: Call): GuardedFetch {
  return run.doors.network().handle({
    signal: () => call.signal,
    onStop: (listener) => call.onStop(listener),
    maxBytes: call.decision?.constraints.maxBytes,
    permits: (url, capability) => holdToDecision(parts, run, call, capability, url),
    beforeSend: () => recordIntent(parts, run, call),
    onAnswer: () => markUntrusted(run, call),
    onRetry: () => call.attempts++,
    cache: run.responses,
    idempotencyKey: call.options.idempotencyKey,
    postRetries: call.decision?.constraints.retries,
  })
}

function journalOf(parts: Parts, run: RunState, call: Call): Journal | undefined {
  const { records } = run
  if (!records) return undefined
  const { undoBytes, durability } = parts.settings
  const maxBytes = isOwners(call) ? Number.POSITIVE_INFINITY : undoBytes
  const journal = createRunJournal(records, { callId: call.id, tool: call.name, maxBytes, durability })
  return {
    keepFile: (source, state) => journal.keepFile(source, state),
    placeForTree: (bytes) => journal.placeForTree(bytes),
    async intend(change) {
      beginChange(parts, run, call)
      await journal.intend(change).catch(refuseEffects)
      noteOrigin(parts, call, change)
    },
  }
}

/** What a call writes that holds content from outside is from outside, too, also for later runs; and wherever it is moved. */
function noteOrigin({ untrusted }: Parts, call: Call, change: Change): void {
  // A label on a folder would cover whatever is put there later.
  if (change.op === 'make-folder' || change.op === 'remove-folder') return
  if (change.op === 'move') untrusted.moved(change.path, change.to)
  // Also what it replaces or removes: undo brings it back with another time.
  const isUntrusted = call.isUntrusted || untrusted.holds(change.path)
  if (isUntrusted) untrusted.add(change.op === 'move' ? change.to : change.path)
}

/** At the moment of use: a target that was not judged before the call is judged now, and nobody can be asked any more. */
export function holdToDecision(parts: Parts, run: Taint, call: Call, capability: Capability, value: string): void {
  if (call.targets.some((target) => target.capability === capability && target.value === value)) return
  const { effect, rule, fix } = decideNow(parts, run, call, capability, value)
  // The person who would be asked has said yes already, to all that is below; or is the one who calls.
  const isYes = effect === 'allow' || (effect === 'ask' && (isApproved(call, capability, value) || isOwners(call)))
  if (!isYes) throw unnamed(call, `${capability} ${value}`, `${rule} does not allow it unasked`, fix.key)
  // A decide hook cannot be asked here, where nothing may wait; without its yes there is none.
  if (parts.hooks.looksAt('decide', call)) throw unnamed(call, `${capability} ${value}`, 'a decide hook was not asked')
}

/** The decision on one thing at the moment of use. */
export function decideNow(parts: Parts, run: Taint, call: Call, capability: Capability, value: string): Decision {
  const asked = { ...question(parts, run, call), capabilities: [capability], targets: [{ capability, value }] }
  return decide(parts.policy, asked)
}

function isApproved({ approvedBy, targets }: Call, capability: Capability, value: string): boolean {
  // A command has nothing below it.
  if (approvedBy === undefined || capability === 'exec') return false
  return targets.some((target) => target.capability === capability && value.startsWith(`${target.value}/`))
}

/** The owner's own calls, such as undo. */
function isOwners({ tool }: Call): boolean {
  return tool!.origin === 'owner'
}

function unnamed(call: Call, target: string, why: string, key?: string): ToolError {
  return new ToolError('POLICY_DENIED', `${call.name} reached for ${target}, which it had not named: ${why}.`, {
    fix: { key, hint: 'Have the tool name the target in targets(), so that it is judged before the call.' },
  })
}

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'search'] as const

type Read = (path: string, options?: unknown) => Promise<unknown>

/**
 * The files of a call that states no file: it may read artifacts of its own run by their references. Policy does not judge
 * them again, since the run got their content before; artifacts of other runs are not there. Whether the content comes from
 * outside is known of the run, not of each artifact: what is read in a tainted run is labelled.
 */
function withArtifacts<T extends Partial<ReadFiles>>(files: T, run: RunState, call: Call): T {
  const openArtifacts = () =>
    run.doors.artifacts()?.handle({
      signal: () => call.signal,
      isStopped: () => call.isStopped,
      canRead: true,
      canWrite: false,
      canOverwrite: false,
      maxBytes: call.decision?.constraints.maxBytes,
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

/** The file is named after its hash; the caller knows it by its reference. */
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
