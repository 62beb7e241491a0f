import type { FileState, KeptChange } from '@tool-hub/core'
import type { FoundEntry } from '@tool-hub/sandbox/files'

/** A step that undoes a change. `replaces` is the content that must still exist; without it, any content is replaced. */
export type Step =
  | { readonly do: 'put-file'; readonly path: string; readonly state: FileState; readonly replaces?: string }
  | { readonly do: 'put-folder'; readonly path: string; readonly mode: number }
  | { readonly do: 'put-tree'; readonly path: string; readonly tree: string; readonly digest: string }
  /** Restores what is missing of a tree that was partly removed. */
  | { readonly do: 'fill-tree'; readonly path: string; readonly tree: string; readonly digest: string }
  | { readonly do: 'remove-file'; readonly path: string; readonly replaces?: string }
  | { readonly do: 'remove-folder'; readonly path: string; readonly isRecursive: boolean }
  | { readonly do: 'move'; readonly path: string; readonly to: string }

/** Whether a change can be undone, and how. */
export type Verdict =
  | { readonly action: 'undo'; readonly step: Step }
  | { readonly action: 'already' }
  | { readonly action: 'not undoable'; readonly reason: string }
  /** `forced` is the step that the owner can apply with `force`. */
  | { readonly action: 'refused'; readonly reason: string; readonly forced?: Step }

/** How much of a kept tree exists at a path: all of it, a subset without differences, or something else. */
export type Rest = 'whole' | 'part' | 'other'

/** The current entries at the paths of a change. */
export interface Sight {
  /** The entry at the path of the change. */
  readonly now: FoundEntry
  /** The entry at the destination of a move. */
  readonly moved?: FoundEntry
  /** How much of the removed tree exists at the path. */
  readonly rest?: Rest
  /** Whether later changes below the path were undone just now, so that the digest no longer matches. */
  readonly isTouched: boolean
}

const ALREADY: Verdict = { action: 'already' }

/** Decides how to undo a change from the current state: as the change left it, as it was before, or something else. */
export function judgeChange(change: KeptChange, sight: Sight): Verdict {
  const verdict = judge(change, sight)
  if (verdict.action === 'already' || change.notUndoable === undefined) return verdict
  return { action: 'not undoable', reason: change.notUndoable }
}

/** Returns whether everything is as it was before the change, which then never happened or was undone. */
export function isBefore(change: KeptChange, { now, moved, rest }: Sight): boolean {
  switch (change.op) {
    case 'create':
    case 'make-folder':
    case 'create-tree':
      return now.type === 'absent'
    case 'replace':
    case 'remove':
      return now.type === 'file' && now.sha256 === change.before.sha256
    case 'remove-folder':
      return now.type === 'folder'
    case 'remove-tree':
      return now.type === 'folder' && (now.digest === change.digest || rest === 'whole')
    case 'move':
      return now.type !== 'absent' && moved?.type === 'absent'
  }
}

function judge(change: KeptChange, sight: Sight): Verdict {
  if (isBefore(change, sight)) return ALREADY
  switch (change.op) {
    case 'create':
      return judgeCreate(change, sight.now)
    case 'replace':
      return judgeReplace(change, sight.now)
    case 'remove':
      return judgeRemove(change, sight.now)
    case 'make-folder':
      return judgeFolder(change.path, sight.now)
    case 'create-tree':
      return judgeTree(change, sight)
    case 'remove-folder':
      return whenAbsent(sight.now, { do: 'put-folder', path: change.path, mode: change.mode })
    case 'remove-tree':
      return judgeTreeRemoval(change, sight)
    case 'move':
      return judgeMove(change, sight)
  }
}

function judgeCreate({ path, after }: KeptChange & { op: 'create' }, now: FoundEntry): Verdict {
  if (now.type !== 'file') return refused(`is now ${NAMES[now.type]}`)
  if (now.sha256 === after.sha256) return undo({ do: 'remove-file', path, replaces: after.sha256 })
  return refused('was changed since', { do: 'remove-file', path })
}

function judgeReplace({ path, before, after }: KeptChange & { op: 'replace' }, now: FoundEntry): Verdict {
  const step: Step = { do: 'put-file', path, state: before }
  if (now.type === 'absent') return refused('is gone', step)
  if (now.type !== 'file') return refused(`is now ${NAMES[now.type]}`)
  if (now.sha256 === after.sha256) return undo({ ...step, replaces: after.sha256 })
  return refused('was changed since', step)
}

function judgeRemove({ path, before }: KeptChange & { op: 'remove' }, now: FoundEntry): Verdict {
  const step: Step = { do: 'put-file', path, state: before }
  if (now.type === 'file') return refused('is there again, with other content', step)
  return whenAbsent(now, step)
}

function judgeFolder(path: string, now: FoundEntry): Verdict {
  if (now.type !== 'folder') return refused(`is now ${NAMES[now.type]}`)
  if (now.names.length === 0) return undo({ do: 'remove-folder', path, isRecursive: false })
  return refused('is not empty', { do: 'remove-folder', path, isRecursive: true })
}

function judgeTree({ path, digest }: KeptChange & { op: 'create-tree' }, { now, isTouched }: Sight): Verdict {
  // The restored piece of a tree may be a file or a link.
  if (now.type === 'absent' || now.type === 'other') return refused(`is now ${NAMES[now.type]}`)
  const step: Step = { do: 'remove-folder', path, isRecursive: true }
  return isTouched || now.digest === digest ? undo(step) : refused('was changed since', step)
}

function judgeTreeRemoval(change: KeptChange & { op: 'remove-tree' }, { now, rest }: Sight): Verdict {
  const { path, tree, digest } = change
  if (tree === undefined) return { action: 'not undoable', reason: 'the folder was not kept' }
  if (rest === 'part') return undo({ do: 'fill-tree', path, tree, digest })
  return whenAbsent(now, { do: 'put-tree', path, tree, digest })
}

function judgeMove(change: KeptChange & { op: 'move' }, { now, moved, isTouched }: Sight): Verdict {
  const { path, to, digest } = change
  if (!moved || moved.type === 'absent') return refused('is gone, and so is what was moved')
  if (now.type !== 'absent') return refused('is there again, and so is what was moved')
  const step: Step = { do: 'move', path: to, to: path }
  const isSame = moved.type !== 'other' && moved.digest === digest
  return isTouched || isSame ? undo(step) : refused('was changed since it was moved', step)
}

const NAMES = {
  absent: 'gone',
  file: 'a file',
  folder: 'a folder',
  link: 'a link',
  other: 'not a regular file',
} as const satisfies Record<FoundEntry['type'], string>

function whenAbsent(now: FoundEntry, step: Step): Verdict {
  return now.type === 'absent' ? undo(step) : refused(`is there again: ${NAMES[now.type]}`)
}

function undo(step: Step): Verdict {
  return { action: 'undo', step }
}

function refused(reason: string, forced?: Step): Verdict {
  return { action: 'refused', reason, ...(forced && { forced }) }
}
