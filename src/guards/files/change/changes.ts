import type { FilesDoor } from '../files-door.ts'
import type { SharedChanges } from './change-scope.ts'
import { createDraftsLedger } from './drafts-ledger.ts'
import { createPathQueue } from './path-queue.ts'
import { sweepDrafts } from './sweep-drafts.ts'

/** One a guard: its calls share the queue and the ledger. */
const changes = new WeakMap<FilesDoor, SharedChanges>()

/**
 * Readies a door for changes. `draftsFolder` is an absolute folder out of the tools' reach, where drafts are written
 * down; those that a crash left below the roots, or below `sweepBelow`, are removed before the first change.
 */
export function openChanges(door: FilesDoor, draftsFolder?: string, sweepBelow?: readonly string[]): SharedChanges {
  const shared: SharedChanges = {
    door,
    queue: createPathQueue(),
    makingFolders: createPathQueue(),
    ledger: createDraftsLedger(draftsFolder),
    // A ledger that cannot be read is said by nobody: the drafts it lists are still there the next time.
    swept: draftsFolder === undefined ? undefined : sweepDrafts(door, draftsFolder, sweepBelow).catch(() => {}),
  }
  changes.set(door, shared)
  return shared
}

/** What the changes through a door have in common. */
export function changesOf(door: FilesDoor): SharedChanges {
  return changes.get(door) ?? openChanges(door)
}
