/** One place where two JSON values differ; undefined is “not there”. */
export interface JsonChange {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

const DEEPEST = 20

/** Where two JSON values differ, by path (`edits[0].path`; '' is the whole). */
export function listChanges(before: unknown, after: unknown, path = '', depth = 0): JsonChange[] {
  if (isSame(before, after)) return []
  if (depth >= DEEPEST || !isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }]
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) =>
    listChanges(at(before, key), at(after, key), join(path, key, Array.isArray(before)), depth + 1),
  )
}

function isSame(before: unknown, after: unknown): boolean {
  return before === after || JSON.stringify(before) === JSON.stringify(after)
}

function isBranch(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function at(value: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function join(path: string, key: string, isList: boolean): string {
  if (isList) return `${path}[${key}]`
  return path === '' ? key : `${path}.${key}`
}
