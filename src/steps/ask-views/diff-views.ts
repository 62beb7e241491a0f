import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { DecisionRedactor } from '../../record/decision-redactor.ts'
import type { Call } from '../call.ts'
import type { Parts, RunState } from '../parts.ts'
import { diffView } from './diff-view.ts'
import { lookBriefly } from './look-briefly.ts'
import { previewFiles } from './preview-files.ts'
import { NOT_WHOLE, showEnds } from './show-ends.ts'
import type { DiffView } from './view-types.ts'

const MOST_FILES = 20
/** Of all diffs together: an ask is kept and sent to everybody who watches. */
const MOST_CHARS = 500_000

// What a tool of plain JavaScript gives back may be anything.
const textChanges = z.array(
  z.object({
    path: z.string().max(4_096),
    movedTo: z.string().max(4_096).optional(),
    before: z.string().optional(),
    after: z.string().optional(),
  }),
)

/** What the tool says that the call would change in files; nothing when it does not say, fails or takes too long. */
export async function diffViews(
  parts: Parts,
  run: RunState,
  call: Call,
  redactor: DecisionRedactor,
): Promise<readonly DiffView[]> {
  const { tool } = call.tool!
  if (tool.preview === undefined) return []
  try {
    return await lookBriefly(parts, call, async (signal) => {
      const ctx = { fs: previewFiles(parts, run, call, signal), signal }
      // A copy: what is asked about is what is executed.
      const changes = textChanges.parse(await tool.preview!(structuredClone(call.input), ctx))
      const views: DiffView[] = []
      for (const { before, after, ...names } of changes.slice(0, MOST_FILES)) {
        views.push(await diffView(redactor, { ...names, before, after }))
        // Others have their turn between two files.
        await setImmediate(undefined, { signal })
      }
      return bound(views, changes.length - views.length)
    })
  } catch {
    // Only a help for the reader: whatever is wrong with the call is said by the call.
    return []
  }
}

/** Shows only the ends of what is too much altogether, and says so. */
function bound(views: readonly DiffView[], leftOut: number): DiffView[] {
  let room = MOST_CHARS
  const bounded = views.map((view) => {
    room -= view.diff.length
    if (room >= 0 || showEnds(view.diff) === view.diff) return view
    return { ...view, diff: `${NOT_WHOLE}the changes of this call are too many.\n${showEnds(view.diff)}` }
  })
  if (leftOut === 0) return bounded
  const path = `${leftOut} more files`
  return [
    ...bounded,
    { kind: 'diff', path, diff: `${NOT_WHOLE}only the first ${MOST_FILES} files are shown.`, isNew: false },
  ]
}
