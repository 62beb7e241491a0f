import { isPlainObject } from '../../lib/index.ts'

/** What a walk hides, and what replaces it. */
export interface RedactionRules {
  readonly lookAtKey: (key: string) => KeyKind
  readonly text: (text: string) => string
  readonly mark: (kind: string) => string
  /** Whether a value is hidden because of its key. Default: every one. */
  readonly mayHide?: (field: unknown) => boolean
}

const MAX_DEPTH = 100
/**
 * From this depth on visited objects are remembered, so that cycles and shared objects cost no more than their size.
 */
const FEW_NODES = 500
/** A `toJSON` may return new objects endlessly. */
const MAX_CONVERSIONS = 100_000

/** One pass over a value. Copies only the branch in which something changed. */
export class RedactionWalk {
  readonly #rules: RedactionRules
  #nodes = 0
  #conversions = 0
  #seen: Map<object, unknown> | undefined

  constructor(rules: RedactionRules) {
    this.#rules = rules
  }

  visit(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#rules.text(value)
    if (typeof value !== 'object' || value === null) return value
    if (depth > MAX_DEPTH) return this.#rules.mark('too-deep')
    if (++this.#nodes <= FEW_NODES) return this.#visitObject(value, depth)
    this.#seen ??= new Map()
    if (this.#seen.has(value)) return this.#seen.get(value)
    this.#seen.set(value, this.#rules.mark('cycle'))
    const output = this.#visitObject(value, depth)
    this.#seen.set(value, output)
    return output
  }

  #visitObject(value: object, depth: number): unknown {
    try {
      if (!hasToJson(value)) {
        if (Array.isArray(value)) return this.#visitArray(value, depth)
        if (isPlainObject(value)) return this.#visitRecord(value, depth)
      }
      return this.#visitInstance(value, depth)
    } catch {
      // A getter or a proxy that throws: what cannot be read is not shown.
      return this.#rules.mark('unreadable')
    }
  }

  #visitArray(value: readonly unknown[], depth: number): readonly unknown[] {
    let copy: unknown[] | undefined
    for (let index = 0; index < value.length; index++) {
      const item = value[index]
      const output = this.visit(item, depth + 1)
      if (output === item) continue
      copy ??= [...value]
      copy[index] = output
    }
    return copy ?? value
  }

  #visitRecord(value: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
    let copy: Record<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const field = value[key]
      const kind = this.#rules.lookAtKey(key)
      const output = kind === 'names-secret' && this.#mayHide(field) ? this.#hide(field) : this.visit(field, depth + 1)
      if (output === field && kind !== 'is-secret') continue
      copy ??= { ...value }
      this.#replace(copy, key, kind, output)
    }
    return copy ?? value
  }

  #replace(copy: Record<string, unknown>, key: string, kind: KeyKind, value: unknown): void {
    let name = key
    if (kind === 'is-secret') {
      delete copy[key]
      name = freeName(copy, this.#rules.text(key))
    }
    // Not by assignment, which would set the prototype for the key `__proto__`.
    Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true })
  }

  #mayHide(field: unknown): boolean {
    return this.#rules.mayHide === undefined || this.#rules.mayHide(field)
  }

  /** The value of a secret key is hidden as a whole; of a list, as headers have it, only the length is shown. */
  #hide(field: unknown): unknown {
    const mark = this.#rules.mark('key')
    if (!Array.isArray(field)) return isSecretValue(field) ? mark : field
    const isShown = (item: unknown) => item === mark || !isSecretValue(item)
    return field.every(isShown) ? field : field.map((item) => (isShown(item) ? item : mark))
  }

  /** A value that is not plain data is redacted in the form in which it will be written. */
  #visitInstance(value: object, depth: number): unknown {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return this.#visitBytes(value)
    if (isDate(value)) return value
    if (hasToJson(value)) return this.#convert(value, depth)
    if (value instanceof String) return this.visit(String(value), depth + 1)
    if (value instanceof Error) return this.visit({ ...value, name: value.name, message: value.message }, depth + 1)
    const record = this.#visitRecord(value as Record<string, unknown>, depth)
    if (record !== value) return record
    if (value instanceof Map) return this.#visitMap(value, depth)
    return value instanceof Set ? this.#visitSet(value, depth) : value
  }

  #visitBytes(value: ArrayBufferView | ArrayBuffer): unknown {
    const bytes = ArrayBuffer.isView(value)
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : Buffer.from(value)
    const text = bytes.toString()
    return this.#rules.text(text) === text ? value : this.#rules.mark('bytes')
  }

  #convert(value: { toJSON(key: string): unknown }, depth: number): unknown {
    if (++this.#conversions > MAX_CONVERSIONS) return this.#rules.mark('too-large')
    const converted = value.toJSON('')
    // One that returns itself means its fields. Its method is left out: it could return the original again.
    return this.visit(converted === value ? { ...value, toJSON: undefined } : converted, depth + 1)
  }

  #visitMap(value: ReadonlyMap<unknown, unknown>, depth: number): ReadonlyMap<unknown, unknown> {
    const copy = new Map<unknown, unknown>()
    let isChanged = false
    for (const [key, field] of value) {
      const isNamed = typeof key === 'string' && this.#rules.lookAtKey(key) === 'names-secret' && this.#mayHide(field)
      const newKey = this.visit(key, depth + 1)
      const newField = isNamed ? this.#hide(field) : this.visit(field, depth + 1)
      isChanged ||= newKey !== key || newField !== field
      copy.set(newKey, newField)
    }
    return isChanged ? copy : value
  }

  #visitSet(value: ReadonlySet<unknown>, depth: number): ReadonlySet<unknown> {
    const items = [...value]
    const copy = items.map((item) => this.visit(item, depth + 1))
    return copy.some((item, index) => item !== items[index]) ? new Set(copy) : value
  }
}

function hasToJson(value: object): value is { toJSON(key: string): unknown } {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}

/** A date without own fields is written as a time. */
function isDate(value: object): boolean {
  return Object.getPrototypeOf(value) === Date.prototype && Reflect.ownKeys(value).length === 0
}

function isSecretValue(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  return typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'object' && value !== null)
}

/** Two secrets of one kind must not become one field. */
function freeName(record: object, name: string): string {
  let free = name
  for (let number = 2; Object.hasOwn(record, free); number++) free = `${name} ${number}`
  return free
}

/** Names whose value is a secret, in lower case, without - and _; those of `ENDINGS` are names as well. */
const NAMES = [
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xcsrftoken',
  'csrftoken',
  'token',
  'idtoken',
  'sessiontoken',
  'credential',
  'credentials',
  'connectionstring',
]

/** `password`, `DB_PASSWORD`, `stripeSecretKey`; not `token`, because pages have a `nextPageToken`. */
const ENDINGS = [
  'password',
  'passwd',
  'passphrase',
  'secret',
  'secretkey',
  'secretaccesskey',
  'apikey',
  'privatekey',
  'accesstoken',
  'refreshtoken',
  'authtoken',
  'bearertoken',
]

/** `GITHUB_TOKEN`: in the style of the environment a token is a secret. */
const ENVIRONMENT_TOKEN = /^[A-Z][A-Z0-9_]*_TOKEN$/

const MAX_REMEMBERED = 1_000
const MAX_KEY_LENGTH = 128

/** What a key is: ordinary, the name of a secret, or a secret itself. */
export type KeyKind = 'ordinary' | 'names-secret' | 'is-secret'

/**
 * Creates the function that classifies keys; `keys` are further names of secrets, `redact` removes secrets from a text.
 */
export function lookAtKeys(
  keys: readonly string[] | undefined,
  redact: (text: string) => string,
): (key: string) => KeyKind {
  const names = new Set([...NAMES, ...(keys ?? []).map(normalise)])
  const kinds = new Map<string, KeyKind>()
  return (key) => {
    const known = kinds.get(key)
    if (known !== undefined) return known
    if (redact(key) !== key) return 'is-secret'
    if (key.length > MAX_KEY_LENGTH) return 'ordinary'
    const kind = namesSecret(key, names) ? 'names-secret' : 'ordinary'
    // Keys come from models, too, so the cache is bounded.
    if (kinds.size < MAX_REMEMBERED) kinds.set(key, kind)
    return kind
  }
}

function namesSecret(key: string, names: ReadonlySet<string>): boolean {
  const plain = normalise(key)
  return names.has(plain) || ENDINGS.some((ending) => plain.endsWith(ending)) || ENVIRONMENT_TOKEN.test(key)
}

function normalise(key: string): string {
  return key.toLowerCase().replaceAll(/[-_\s]/g, '')
}
