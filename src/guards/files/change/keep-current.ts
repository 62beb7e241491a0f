import type { FileState } from '../../../change.ts'
import type { ChangeScope } from './change-scope.ts'
import { type CurrentFile, modeOf, stateOf } from './current-file.ts'
import type { Place } from './place.ts'

/** A larger content is replaced or removed without keeping it: hashing it alone would take seconds. */
const LARGEST_KEPT = 1_073_741_824

/** The state of a file that is about to go, when somebody needs its hash: the one who decides, or the journal. */
export async function hashCurrent(
  { call, signal }: ChangeScope,
  current: CurrentFile,
  isNeeded: boolean,
): Promise<FileState | undefined> {
  const isKept = call.journal !== undefined && current.stats.size <= LARGEST_KEPT
  return isNeeded || isKept ? stateOf(current, signal) : undefined
}

/** Keeps the content of a file that is about to go; without its hash it cannot be kept. */
export async function keepCurrent(
  scope: ChangeScope,
  place: Place,
  current: CurrentFile,
  before: FileState | undefined,
): Promise<{ before: FileState; notUndoable: string | undefined }> {
  if (before) return { before, notUndoable: await scope.keepFile(place.path, before) }
  const bytes = Number(current.stats.size)
  return {
    before: { sha256: '', bytes, mode: modeOf(current.stats) },
    notUndoable: `its ${bytes} bytes are over the ${LARGEST_KEPT} that are kept`,
  }
}
