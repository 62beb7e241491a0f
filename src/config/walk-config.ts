import type { KeyPath } from '../core/index.ts'
import { isPlainObject } from '../lib/index.ts'

/** A key and its value, somewhere in a config. */
interface ConfigEntry {
  readonly path: KeyPath
  readonly value: unknown
}

/** Deeper than any config; data from JSON5 and modules has no other bound. */
export const MAX_CONFIG_DEPTH = 64

/** Every key and item of a config, parents first, each object once, down to one level below the deepest. */
export function* walkConfig(root: unknown): Generator<ConfigEntry> {
  const seen = new Set<unknown>()
  const waiting: ConfigEntry[] = [{ path: [], value: root }]
  for (let entry = waiting.pop(); entry; entry = waiting.pop()) {
    yield entry
    const { path, value } = entry
    if (!isData(value) || seen.has(value) || path.length > MAX_CONFIG_DEPTH) continue
    seen.add(value)
    const children: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
    for (const [key, child] of children.reverse()) waiting.push({ path: [...path, key], value: child })
  }
}

/** Lists and plain objects: a module may hand a plugin any object with a life of its own. */
function isData(value: unknown): value is object {
  return Array.isArray(value) || isPlainObject(value)
}
