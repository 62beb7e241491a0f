import { dirname, relative } from 'node:path'
import type { FileState } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import type { FoundEntry } from '@tool-hub/sandbox/files'
import type { Rest, Step } from './judge-change.ts'

/** Inspects files and undoes changes; a rehearsal only simulates the changes. */
export interface Restorer {
  /** Returns the entry at a path after all steps so far; with `digest`, including its digest. */
  look(path: string, options?: { readonly digest?: boolean }): Promise<FoundEntry>
  /** Returns how much of a removed tree exists now. */
  compare(removed: { readonly path: string; readonly tree: string; readonly digest: string }): Promise<Rest>
  /** Applies a step that undoes a change; with `isForced`, whatever the current content is. */
  apply(step: Step, options: { readonly isForced: boolean }): Promise<void>
}

type Look = (path: string) => Promise<FoundEntry>

/** One of two trees that are compared. */
interface Tree {
  readonly path: string
  readonly look: Look
}

/** Compares a path with a kept tree by content. Stops at the first difference. */
export async function compareTree(now: Tree, kept: Tree): Promise<Rest> {
  const [present, was] = [await now.look(now.path), await kept.look(kept.path)]
  if (was.type === 'absent') return 'other'
  if (present.type === 'absent') return 'part'
  if (present.type === 'folder' && was.type === 'folder') return compareNames(now, kept, present.names, was.names)
  return isEqual(present, was) ? 'whole' : 'other'
}

async function compareNames(now: Tree, kept: Tree, present: readonly string[], was: readonly string[]): Promise<Rest> {
  if (!present.every((name) => was.includes(name))) return 'other'
  let rest: Rest = present.length === was.length ? 'whole' : 'part'
  for (const name of present) {
    const inner = await compareTree(below(now, name), below(kept, name))
    if (inner === 'other') return 'other'
    if (inner === 'part') rest = 'part'
  }
  return rest
}

function isEqual(a: FoundEntry, b: FoundEntry): boolean {
  if (a.type === 'file' && b.type === 'file') return a.sha256 === b.sha256
  return a.type === 'link' && b.type === 'link' && a.to === b.to
}

function below({ path, look }: Tree, name: string): Tree {
  return { path: `${path}/${name}`, look }
}

/** The entry that a rehearsed step would have left at a path. */
type Leftover =
  | { readonly type: 'found'; readonly found: FoundEntry }
  /** The entry at `from`, as it was before this step. */
  | { readonly type: 'from'; readonly from: string; readonly look: LookWith }

type LookWith = (path: string, options?: { readonly digest?: boolean }) => Promise<FoundEntry>

/** The files that a rehearsal reads and never changes. */
interface Originals {
  readonly look: LookWith
  /** Inspects content that runs have kept. */
  readonly lookKept: LookWith
  /** Returns the path of a kept tree. Rejects if the tree was changed. */
  readonly keptTree: (removed: { readonly tree: string; readonly digest: string }) => Promise<string>
  /** Rejects if kept content was changed. */
  readonly checkKept: (state: FileState) => Promise<void>
}

/** Returns a restorer that changes nothing and shows everything as if it had. */
export function rehearse({ look: lookOriginal, lookKept, keptTree, checkKept }: Originals): Restorer {
  const steps: { readonly path: string; readonly left: Leftover }[] = []
  const lookAsOf =
    (count: number): LookWith =>
    async (path, options) => {
      const found = await lookBehind(count, path, options)
      return found.type === 'folder' ? { ...found, names: await namesIn(count, path, found.names) } : found
    }
  const lookBehind = async (
    count: number,
    path: string,
    options?: { readonly digest?: boolean },
  ): Promise<FoundEntry> => {
    const last = steps.slice(0, count).findLast((step) => isWithin(step.path, path))
    if (!last) return lookOriginal(path, options)
    const rest = relative(last.path, path)
    if (last.left.type === 'from')
      return last.left.look(rest === '' ? last.left.from : `${last.left.from}/${rest}`, options)
    return rest === '' ? last.left.found : { type: 'absent' }
  }
  const namesIn = async (count: number, path: string, names: readonly string[]): Promise<string[]> => {
    const all = new Set(names)
    for (const { path: child, left } of steps.slice(0, count)) {
      if (dirname(child) !== path) continue
      const name = relative(path, child)
      if (left.type === 'found' && left.found.type === 'absent') all.delete(name)
      else all.add(name)
    }
    return [...all]
  }
  const leave = (path: string, left: Leftover) => steps.push({ path, left })
  const leaveFound = (path: string, found: FoundEntry) => leave(path, { type: 'found', found })
  return {
    look: (path, options) => lookAsOf(steps.length)(path, options),
    async compare({ path, ...removed }) {
      return compareTree({ path, look: lookAsOf(steps.length) }, { path: await keptTree(removed), look: lookKept })
    },
    async apply(step) {
      const { path } = step
      if (step.do === 'put-file') await checkKept(step.state)
      if (step.do === 'put-file') leaveFound(path, { type: 'file', sha256: step.state.sha256, mode: step.state.mode })
      else if (step.do === 'put-folder') leaveFound(path, { type: 'folder', names: [] })
      else if (step.do === 'put-tree' || step.do === 'fill-tree')
        leave(path, { type: 'from', from: await keptTree(step), look: lookKept })
      else if (step.do === 'move') {
        leave(step.to, { type: 'from', from: path, look: lookAsOf(steps.length) })
        leaveFound(path, { type: 'absent' })
      } else leaveFound(path, { type: 'absent' })
    },
  }
}
