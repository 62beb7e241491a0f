import { isAbsolute } from 'node:path'
import type { FileState, KeptChange } from '../../change.ts'
import { isFileName, treeBytes } from './kept-name.ts'

type Field = (value: unknown) => boolean

/** What each change has beside its path; records can have been tampered with, and what is read here is written to disk. */
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

/** The change that an event tells of; undefined when it is none that we wrote. */
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
