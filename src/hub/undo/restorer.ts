import type { FoundEntry } from '../../sandbox/files/index.ts'
import type { Rest } from './compare-tree.ts'
import type { Step } from './judge-change.ts'

/** What looks at files and takes changes back; a rehearsal does neither for real. */
export interface Restorer {
  /** What is there now, after all steps so far; with its digest when that is asked for. */
  look(path: string, options?: { readonly digest?: boolean }): Promise<FoundEntry>
  /** How much of a removed tree is there now. */
  compare(removed: { readonly path: string; readonly tree: string; readonly digest: string }): Promise<Rest>
  /** Takes a change back; `isForced` when what is there now may be anything. */
  apply(step: Step, options: { readonly isForced: boolean }): Promise<void>
}
