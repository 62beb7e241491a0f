const MAX_KEY_LENGTH = 40
const MAX_POINTER_LENGTH = 200

/** JSON pointer (RFC 6901) of a path of keys. */
export function toPointer(keys: readonly PropertyKey[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The same for a message: quoted, so that odd keys do no harm, and never long. */
export function quotePointer(keys: readonly PropertyKey[]): string {
  return JSON.stringify(shorten(toPointer(keys.map((key) => shorten(String(key), MAX_KEY_LENGTH))), MAX_POINTER_LENGTH))
}

/** The keys of a JSON pointer. */
export function pointerKeys(pointer: string): string[] {
  const [, ...parts] = pointer.split('/')
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The value at a path of own keys, or undefined. */
export function valueAt(root: unknown, keys: readonly PropertyKey[]): unknown {
  let value = root
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

/** A path as people write it: `items[0].name`. */
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
