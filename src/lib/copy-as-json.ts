import { isPlainObject } from './is-plain-object.ts'

/** Stands for a value that is no plain data: only writing and reading it back tells what JSON makes of it. */
export const NOT_PLAIN = Symbol('not plain')

const MAX_DEPTH = 50

/**
 * The same as `JSON.parse(JSON.stringify(value))` for plain data, without writing and reading the texts in it, which for
 * a long one costs as much as a whole call.
 */
export function copyAsJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value === 'number') return isKept(value) ? value : NOT_PLAIN
  if (typeof value !== 'object' || depth > MAX_DEPTH || 'toJSON' in value) return NOT_PLAIN
  if (Array.isArray(value)) return copyList(value, depth)
  return isPlainObject(value) ? copyRecord(value, depth) : NOT_PLAIN
}

/** JSON has no NaN, no infinity and no -0. */
function isKept(value: number): boolean {
  return Number.isFinite(value) && !Object.is(value, -0)
}

function copyList(list: readonly unknown[], depth: number): unknown {
  const copy: unknown[] = []
  for (let index = 0; index < list.length; index++) {
    const item = copyAsJson(list[index], depth + 1)
    if (item === NOT_PLAIN) return NOT_PLAIN
    copy.push(item)
  }
  return copy
}

function copyRecord(record: Readonly<Record<string, unknown>>, depth: number): unknown {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(record)) {
    const field = record[key]
    // JSON leaves it out.
    if (field === undefined) continue
    const part = copyAsJson(field, depth + 1)
    if (part === NOT_PLAIN || key === '__proto__') return NOT_PLAIN
    copy[key] = part
  }
  return copy
}
