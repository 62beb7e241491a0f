import { dirname, relative } from 'node:path'
import type { FileState } from '../../core/index.ts'
import { isWithin } from '../../lib/index.ts'
import type { FoundEntry } from '../../sandbox/files/index.ts'
import { compareTree } from './compare-tree.ts'
import type { Restorer } from './restorer.ts'

/** What a rehearsed step would have left at a path. */
type Left =
  | { readonly type: 'found'; readonly found: FoundEntry }
  /** What is at `from`, as it was before this step. */
  | { readonly type: 'from'; readonly from: string; readonly look: Look }

type Look = (path: string, options?: { readonly digest?: boolean }) => Promise<FoundEntry>

/** What a rehearsal looks at and never changes. */
interface Originals {
  readonly look: Look
  /** Looks into what runs have kept. */
  readonly lookKept: Look
  /** Where a kept tree lies; fails when it is not what it was. */
  readonly keptTree: (removed: { readonly tree: string; readonly digest: string }) => Promise<string>
  /** Fails when a kept content is not what it was. */
  readonly checkKept: (state: FileState) => Promise<void>
}

/** Undoes nothing, and sees everything as if it had. */
export function rehearse({ look: lookOriginal, lookKept, keptTree, checkKept }: Originals): Restorer {
  const steps: { readonly path: string; readonly left: Left }[] = []
  const lookAsOf =
    (count: number): Look =>
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
  const leave = (path: string, left: Left) => steps.push({ path, left })
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
