import { type Change, type FileState, type PlaceForTree, ToolError, throwIfAborted } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import { quotePath } from '../file-error.ts'
import type { FilesCall } from '../files-call.ts'
import type { FilesRoot } from '../files-root.ts'
import type { FileTarget } from '../roots.ts'
import { createDraftsLedger, type DraftsLedger, sweepDrafts } from './drafts-ledger.ts'

/** The state that all changes of one guard share. */
export interface SharedChanges {
  readonly filesRoot: FilesRoot
  readonly queue: PathQueue
  /** Missing folders above a target are created one at a time, so that each has one creator. */
  readonly makingFolders: PathQueue
  readonly ledger: DraftsLedger
  /** Resolves when the drafts that a crash left behind are removed. */
  readonly swept: Promise<void> | undefined
}

/**
 * Prepares a files root for changes. `draftsFolder` is an absolute folder that tools cannot reach, where drafts are
 * recorded; those that a crash left below the roots, or below `sweepBelow`, are removed before the first change.
 */
export function openChanges(
  filesRoot: FilesRoot,
  draftsFolder?: string,
  sweepBelow?: readonly string[],
): SharedChanges {
  return {
    filesRoot,
    queue: createPathQueue(),
    makingFolders: createPathQueue(),
    ledger: createDraftsLedger(draftsFolder),
    // A ledger that cannot be read is not reported: the drafts it lists are removed at the next start.
    swept: draftsFolder === undefined ? undefined : sweepDrafts(filesRoot, draftsFolder, sweepBelow).catch(() => {}),
  }
}

/** The changes of one call, and the journal that keeps the content they replace. */
export class ChangeScope {
  readonly shared: SharedChanges
  readonly filesRoot: FilesRoot
  readonly call: FilesCall
  #hasSaidNoJournal = false

  constructor(shared: SharedChanges, call: FilesCall) {
    this.shared = shared
    this.filesRoot = shared.filesRoot
    this.call = call
  }

  /** Runs a change after all earlier ones of its paths have ended; errors are about the path `named`. */
  change<T>(named: string, paths: readonly string[], work: (targets: readonly FileTarget[]) => Promise<T>): Promise<T> {
    const { shared, filesRoot, call } = this
    return filesRoot.use(named, call, async () => {
      if (shared.swept) await shared.swept
      const locate = () => paths.map((path) => filesRoot.roots.locate(path))
      // Located again when its turn comes: the guard may be closed by then, and its descriptors reused.
      const run = async () => {
        this.throwIfAborted()
        return work(locate())
      }
      return shared.queue(
        locate().map(({ path }) => path),
        run,
        call.signal,
      )
    })
  }

  get signal(): AbortSignal {
    return this.call.signal()
  }

  throwIfAborted(): void {
    throwIfAborted(this.call.signal())
  }

  /** Keeps the content that a change replaces; returns the reason if it was not kept. */
  async keepFile(source: string, state: FileState): Promise<string | undefined> {
    return this.call.journal?.keepFile(source, state)
  }

  async placeForTree(bytes: number): Promise<PlaceForTree> {
    return (await this.call.journal?.placeForTree(bytes)) ?? { refusal: 'nothing is kept of changes here' }
  }

  /** Puts a change on record before it happens, and notifies the caller if it cannot be undone. */
  async intend(change: Change, { tree, notUndoable }: { tree?: string; notUndoable?: string } = {}): Promise<void> {
    const { journal, notice } = this.call
    if (!journal) {
      if (!this.#hasSaidNoJournal) notice?.('This change cannot be undone: nothing is kept of changes here.')
      this.#hasSaidNoJournal = true
      return this.call.onChange?.(change)
    }
    if (notUndoable !== undefined) notice?.(`The change of ${quotePath(change.path)} cannot be undone: ${notUndoable}.`)
    await journal.intend({
      ...change,
      ...(tree !== undefined && { tree }),
      ...(notUndoable !== undefined && { notUndoable }),
    })
    const labelling = this.call.onChange?.(change)
    if (labelling) await labelling
  }
}

/** Throws, before any work, if the call may not replace the target whatever its content is. */
export function checkMayReplace(scope: ChangeScope, target: FileTarget, replaces: string | undefined): void {
  const seen = scope.call.seen?.get(target.path)
  const canHaveSeen = seen !== undefined && (replaces === undefined || seen === replaces)
  if (!scope.call.canOverwrite && !canHaveSeen) throw noLeave(target)
}

/**
 * Decides at the moment of use: what this run has read completely may be replaced; anything
 * else needs a tool and a rule that may destroy.
 */
export function checkReplaces(scope: ChangeScope, target: FileTarget, current: FileState | undefined): void {
  const { call, filesRoot } = scope
  if (current && call.seen?.get(target.path) === current.sha256) return
  if (!call.canOverwrite) throw noLeave(target)
  filesRoot.pass(target, 'overwrite', call)
}

/** Refuses a removal by a tool that may not destroy, or that policy does not permit. */
export function checkMayRemove({ call, filesRoot }: ChangeScope, target: FileTarget): void {
  filesRoot.pass(target, 'write', call)
  if (!call.canOverwrite) {
    throw new ToolError('POLICY_DENIED', `${quotePath(target.path)} may not be removed by this tool.`, {
      fix: destructive('The tool has to declare danger:destructive and a rule has to allow it.'),
    })
  }
  filesRoot.pass(target, 'overwrite', call)
}

function noLeave(target: FileTarget): ToolError {
  const what = `${quotePath(target.path)} exists, and this run has not read what it holds now`
  return new ToolError('POLICY_DENIED', `${what}; it may not be overwritten.`, {
    fix: destructive('Read the whole file first, then write; or have a rule allow danger:destructive.'),
  })
}

function destructive(hint: string): { key: string; value: string; hint: string } {
  return { key: 'capabilities', value: 'danger:destructive', hint }
}

/**
 * Runs a job when all earlier ones for one of its paths, or for a path above or below, have ended. A job that has to wait
 * leaves the queue when its signal aborts.
 */
type PathQueue = <T>(paths: readonly string[], job: () => Promise<T>, signal?: () => AbortSignal) => Promise<T>

/**
 * Creates a queue for changes. A job is queued for all of its paths together, so two jobs never wait for each other; and
 * each waits for all jobs before it, so one that leaves does not let others start too early.
 */
export function createPathQueue(): PathQueue {
  const underWay = new Map<Promise<unknown>, readonly string[]>()
  return async (paths, job, signal) => {
    const earlier: Promise<unknown>[] = []
    for (const [ended, taken] of underWay) if (overlaps(paths, taken)) earlier.push(ended)
    const done = earlier.length === 0 ? job() : allEnded(earlier, signal?.()).then(job)
    underWay.set(done, paths)
    try {
      return await done
    } finally {
      underWay.delete(done)
    }
  }
}

async function allEnded(earlier: readonly Promise<unknown>[], signal: AbortSignal | undefined): Promise<void> {
  const ended = Promise.allSettled(earlier)
  if (!signal) return void (await ended)
  if (!signal.aborted) await Promise.race([ended, stopOf(signal)])
  throwIfAborted(signal)
}

/** One listener per signal, however many changes of a call wait. */
const stops = new WeakMap<AbortSignal, Promise<void>>()

function stopOf(signal: AbortSignal): Promise<void> {
  const present = stops.get(signal)
  if (present) return present
  const stop = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
  stops.set(signal, stop)
  return stop
}

function overlaps(paths: readonly string[], others: readonly string[]): boolean {
  return paths.some((path) => others.some((other) => isWithin(other, path) || isWithin(path, other)))
}
