import { createHash } from 'node:crypto'
import type { FileState, KeptChange } from '../../change.ts'
import { errnoOf } from '../../disk/errno.ts'
import { openRegular } from '../../disk/open-regular.ts'
import { ToolError } from '../../errors.ts'
import type { RecordedChange } from '../../record/undo/read-history.ts'
import { readKept } from '../../record/undo/read-kept.ts'

const MOST_BYTES = 500_000

/** What a file held before and after a change; nothing when one of the two is no text, too large or no longer there. */
export async function changeTexts(
  folder: string,
  change: KeptChange,
  all: readonly RecordedChange[],
): Promise<{ readonly before: string; readonly after: string } | undefined> {
  if (change.op !== 'create' && change.op !== 'replace' && change.op !== 'remove') return undefined
  const before = change.op === 'create' ? '' : await keptText(folder, change.before)
  const after = change.op === 'remove' ? '' : await leftText(folder, change.path, change.after, all)
  return before === undefined || after === undefined ? undefined : { before, after }
}

/** What a call left is what a later change of the run kept, or else what is there now. */
async function leftText(
  folder: string,
  path: string,
  state: FileState,
  all: readonly RecordedChange[],
): Promise<string | undefined> {
  const isKept = all.some(({ change }) => 'before' in change && change.before.sha256 === state.sha256)
  return (isKept ? await keptText(folder, state) : undefined) ?? presentText(path, state)
}

async function keptText(folder: string, state: FileState): Promise<string | undefined> {
  if (state.bytes > MOST_BYTES || state.sha256 === '') return undefined
  try {
    const pieces: Uint8Array[] = []
    for await (const piece of readKept(folder, state)) pieces.push(piece)
    return asText(Buffer.concat(pieces))
  } catch (error) {
    if (ToolError.is(error)) return undefined
    throw error
  }
}

async function presentText(path: string, { sha256, bytes }: FileState): Promise<string | undefined> {
  if (bytes > MOST_BYTES) return undefined
  try {
    const file = await openRegular(path)
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(bytes + 1), 0, bytes + 1, 0)
      const content = buffer.subarray(0, bytesRead)
      return createHash('sha256').update(content).digest('hex') === sha256 ? asText(content) : undefined
    } finally {
      await file.close()
    }
  } catch (error) {
    // Gone, moved, a link by now: whatever it is, it is not what the call left.
    if (ToolError.is(error) || errnoOf(error) !== undefined) return undefined
    throw error
  }
}

function asText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content)
  } catch {
    // No text, no diff.
    return undefined
  }
}
