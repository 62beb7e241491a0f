/** Plain data whose properties and lists are read-only at every depth. */
export type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Immutable<T[Key]> }
    : T

/** True for `{}` and for objects without a prototype: plain data, no array and no instance of a class. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Parses JSON that a schema checks next. Returns `undefined`, which no schema accepts, for a text that is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The schema reports it.
    return undefined
  }
}

/** Freezes a tree of plain data and returns it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  for (const part of Object.values(value)) deepFreeze(part)
  return Object.freeze(value)
}

/** What `copyAsJson` returns for a value that is not plain data; `JSON.stringify` has to convert that one. */
export const NOT_PLAIN = Symbol('not plain')

const MAX_DEPTH = 50

/**
 * Does for plain data what `JSON.parse(JSON.stringify(value))` does, without encoding its strings: for a long one that
 * costs as much as a whole call.
 */
export function copyAsJson(value: unknown, depth = 0): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  // JSON cannot represent NaN, infinity and -0.
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0) ? value : NOT_PLAIN
  if (typeof value !== 'object' || depth > MAX_DEPTH || 'toJSON' in value) return NOT_PLAIN
  if (Array.isArray(value)) return copyList(value, depth)
  if (!isPlainObject(value)) return NOT_PLAIN
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const field = value[key]
    // JSON omits it.
    if (field === undefined) continue
    const part = copyAsJson(field, depth + 1)
    if (part === NOT_PLAIN || key === '__proto__') return NOT_PLAIN
    copy[key] = part
  }
  return copy
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

const MAX_KEY_LENGTH = 40
const MAX_POINTER_LENGTH = 200

/** Writes a path of keys as a JSON pointer (RFC 6901). */
export function toPointer(keys: readonly PropertyKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Writes a path of keys as a JSON pointer for a message: quoted and shortened, whatever the keys contain. */
export function quotePointer(keys: readonly PropertyKey[]): string {
  return JSON.stringify(shorten(toPointer(keys.map((key) => shorten(String(key), MAX_KEY_LENGTH))), MAX_POINTER_LENGTH))
}

/** Returns the keys of a JSON pointer. */
export function pointerKeys(pointer: string): string[] {
  const [, ...parts] = pointer.split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value at a path of own keys, or `undefined`. */
export function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

/** Writes a path of keys the way people do: `items[0].name`. */
export function readablePath(keys: readonly PropertyKey[]): string {
  return keys.reduce<string>((path, key) => path + readableKey(String(key), path === ''), '')
}

function readableKey(key: string, isFirst: boolean): string {
  if (/^\d{1,15}$/.test(key)) return `[${key}]`
  if (/^[A-Za-z_$][\w$-]{0,63}$/.test(key)) return isFirst ? key : `.${key}`
  return `[${JSON.stringify(shorten(key, 65))}]`
}

function shorten(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1)}…`
}
