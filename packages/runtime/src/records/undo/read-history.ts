import { createHash } from 'node:crypto'
import { basename, isAbsolute, join } from 'node:path'
import { type FileState, type KeptChange, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { openRegular } from '@tool-hub/sandbox/system'
import { diskError } from '../log/disk-error.ts'
import { bodyOf, inspectLine } from '../log/event-line.ts'
import type { Line } from '../log/lines.ts'
import { eventLines } from '../log/read-events.ts'
import { isFileName, treeBytes } from './undo-folder.ts'

/**
 * The fields of each change besides its path, checked because records may have been tampered with and undo writes to
 * disk.
 */
const FIELDS: Readonly<Record<KeptChange['op'], Readonly<Record<string, Field>>>> = {
  create: { after: isState },
  replace: { before: isState, after: isState },
  remove: { before: isState },
  'make-folder': {},
  'remove-folder': { mode: isMode },
  'create-tree': { digest: isText },
  'remove-tree': { digest: isText, bytes: isCount },
  move: { to: isPath, digest: isText },
}

/** A change with the event that recorded it. */
export interface RecordedChange {
  readonly run: string
  readonly seq: number
  readonly time: string
  readonly callId: string
  readonly tool: string
  readonly change: KeptChange
}

/** What a run changed, and which changes of any run it undid. */
export interface RunHistory {
  /** In the order in which they happened. */
  readonly changes: readonly RecordedChange[]
  readonly undone: readonly { readonly run: string; readonly seq: number; readonly by: string }[]
}

const MARK = /"type":"(file-changing|change-undone)"/
const MARK_BYTES = 120

/** Reads what a run changed; works in any process, also while the run is open. Throws for a record that was changed. */
export async function readChangeHistory(folder: string): Promise<RunHistory> {
  const history = { changes: [] as RecordedChange[], undone: [] as { run: string; seq: number; by: string }[] }
  for await (const lines of eventLines(folder)) {
    for (const line of lines) {
      if (MARK.test(line.bytes.toString('latin1', 0, MARK_BYTES))) addLine(history, line, basename(folder))
    }
  }
  return history
}

function addLine(
  { changes, undone }: { changes: RecordedChange[]; undone: { run: string; seq: number; by: string }[] },
  line: Line,
  run: string,
): void {
  const { seq, time, event } = parseLine(line, run)
  const { type, callId, tool } = event
  if (typeof callId !== 'string' || typeof tool !== 'string') throw tampered(run)
  if (type === 'change-undone') {
    if (typeof event.run !== 'string' || typeof event.change !== 'number') throw tampered(run)
    undone.push({ run: event.run, seq: event.change, by: callId })
    return
  }
  const change = parseChange(event)
  if (!change) throw tampered(run)
  changes.push({ run, seq, time, callId, tool, change })
}

function parseLine(line: Line, run: string) {
  const facts = inspectLine(line.bytes)
  if (!facts?.intact) throw tampered(run)
  const { seq, time } = facts
  return { seq, time, event: JSON.parse(bodyOf(line.bytes)) as Readonly<Record<string, unknown>> }
}

function tampered(run: string): ToolError {
  return new ToolError('CONFLICT', `The record of the changes of run ${run} is not as it was written.`, {
    hint: `Look at it with tool-hub audit verify ${run}; it cannot be used to undo anything.`,
  })
}

type Field = (value: unknown) => boolean

/** Returns the change that an event records, or `undefined` if it is not one that we wrote. */
export function parseChange(event: Readonly<Record<string, unknown>>): KeptChange | undefined {
  const { op, path, tree, notUndoable } = event
  if (typeof op !== 'string' || !Object.hasOwn(FIELDS, op) || !isPath(path)) return undefined
  if (tree !== undefined && (typeof tree !== 'string' || treeBytes(tree) === undefined)) return undefined
  if (notUndoable !== undefined && typeof notUndoable !== 'string') return undefined
  const fields = Object.entries(FIELDS[op as KeptChange['op']])
  if (!fields.every(([name, isRight]) => isRight(event[name]))) return undefined
  const own = Object.fromEntries(fields.map(([name]) => [name, event[name]]))
  const kept = { ...(tree !== undefined && { tree }), ...(notUndoable !== undefined && { notUndoable }) }
  return { op, path, ...own, ...kept } as KeptChange
}

/** A file that was too large to hash has an empty hash; it is never kept. */
function isState(value: unknown): boolean {
  const { sha256, bytes, mode } = (value ?? {}) as Partial<FileState>
  const isHash = typeof sha256 === 'string' && (sha256 === '' || isFileName(sha256))
  return isHash && isCount(bytes) && isMode(mode)
}

function isPath(value: unknown): value is string {
  return typeof value === 'string' && isAbsolute(value) && !value.includes('\0')
}

function isMode(value: unknown): boolean {
  return isCount(value) && (value as number) <= 0o7777
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

/**
 * Yields the content that a run kept of a file, in pieces. Throws at its end if the hash is wrong, so a caller that
 * writes it must not publish it before.
 */
export async function* readKept(folder: string, { sha256, bytes }: FileState): AsyncGenerator<Uint8Array> {
  const path = join(folder, 'undo', sha256)
  const file = await openRegular(path).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw diskError('What was kept cannot be read', path, error)
    throw new ToolError('NOT_FOUND', 'The previous content has been deleted.')
  })
  try {
    const hash = createHash('sha256')
    let left = bytes
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      left -= (chunk as Buffer).length
      if (left < 0) throw changedSince(sha256)
      hash.update(chunk)
      yield chunk
    }
    if (hash.digest('hex') !== sha256) throw changedSince(sha256)
  } finally {
    await file.close()
  }
}

function changedSince(sha256: string): ToolError {
  return new ToolError('CONFLICT', `What was kept (undo/${sha256.slice(0, 12)}…) was changed since.`, {
    hint: 'It cannot be restored; look for another copy.',
  })
}
