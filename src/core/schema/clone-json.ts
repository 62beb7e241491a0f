import { isPlainObject } from '../../lib/index.ts'

/** Copies arrays and plain objects all the way down; an own `__proto__` key stays a key and sets no prototype. */
export function cloneJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(cloneJson)
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const part = cloneJson(value[key])
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: part, enumerable: true, writable: true, configurable: true })
    else copy[key] = part
  }
  return copy
}
