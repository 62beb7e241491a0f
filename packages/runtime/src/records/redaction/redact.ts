import { isPlainObject } from '@tool-hub/core/lib'
import { KnownValues } from './known-values.ts'
import { RedactStream } from './redact-stream.ts'
import { redactShapes, redactShown, SECRET_HINT, SECRET_KEY_ENDINGS, SECRET_KEYS } from './secret-shapes.ts'
import { redactionMark } from './text.ts'

/** The mark in place of a secret: `[redacted:github-token]`. */
export const REDACTION_MARK = /\[redacted:[a-z-]{1,40}\]/

/** Removes secrets from what is written or returned. */
export interface Redactor {
  /**
   * Returns the same value if it is plain data without secrets, otherwise a copy without them. A value with a `toJSON`
   * becomes what that returns, an error its name and message. Never throws.
   */
  value<T>(value: T): T
  text(text: string): string
  /** Returns a redactor for an approver of one call: it hides nothing that could be code. */
  forDecision(options?: { readonly runsCode?: boolean }): DecisionRedactor
  /** Returns a redactor for bytes that come piece by piece, such as the output of a command. */
  stream(): RedactStream
  /** Treats further values as secrets from now on. */
  hide(values: readonly string[]): void
  /** Whether a text contains a mark: it is not the real content and must not be written back. */
  isMark(text: string): boolean
}

/** What the owner knows to be secret. */
interface RedactorOptions {
  readonly keys?: readonly string[]
  /**
   * Values of secrets. Those shorter than 8 characters would match ordinary text, and are ignored; those that are shorter
   * once escapes such as `%0a` in them are read are found unless something breaks them.
   */
  readonly values?: readonly string[]
}

const LONG_TEXT = 1_000
/** The shortest shape is `://:b@`. */
const MIN_SECRET_LENGTH = 6

/** Creates a redactor: by key, by known value, and by the shape of well-known secrets. */
export function createRedactor({ keys, values = [] }: RedactorOptions = {}): Redactor {
  const all = [...values]
  let known = KnownValues.of(all)
  let knownBytes: KnownValues | undefined

  // A long text is redacted several times: in the data, in what the model sees, in the artifact.
  let lastClean = ''

  function text(input: string): string {
    if (input.length >= LONG_TEXT && input === lastClean) return input
    let output = known ? known.hide(input) : input
    if (mayHoldSecret(output)) output = redactShapes(output)
    if (output.length >= LONG_TEXT) lastClean = output
    return output
  }

  const lookAtKey = lookAtKeys(keys, text)
  const rules = { lookAtKey, text, mark: redactionMark }
  return {
    value: <T>(value: T): T => new RedactionWalk(rules).visit(value, 0) as T,
    text,
    forDecision: ({ runsCode = false } = {}) => new DecisionRedactor({ known, lookAtKey, runsCode }),
    stream() {
      knownBytes ??= known?.asLatin1()
      return new RedactStream(knownBytes)
    },
    hide(more) {
      const news = more.filter((value) => !all.includes(value))
      if (news.length === 0) return
      all.push(...news)
      known = KnownValues.of(all)
      knownBytes = undefined
      lastClean = ''
    },
    isMark: (input) => input.includes('[redacted:') && REDACTION_MARK.test(input),
  }
}

/**
 * True when a text may hold one of the shapes. One pass of about 0.7 us per KB: it looks for the rarest character of
 * each shape and only there at what stands before or after it.
 */
export function mayHoldSecret(text: string): boolean {
  return text.length >= MIN_SECRET_LENGTH && SECRET_HINT.test(text)
}

/** Characters that separate commands, or that a shell interprets. */
const SYNTAX = /[\s;|&$()<>`"'\\{}]/
/** Longer than a secret: nobody could guess what is hidden. */
const MANY_CHARS = 4_000
/** A password or token: no words, no path, and nothing that a shell would interpret. */
const OPAQUE = /^(?=.*\d)[\w.~+=:@%,-]{8,200}$/

/** What a redactor knows, and whether the call runs code. */
interface Rules {
  readonly known: KnownValues | undefined
  readonly lookAtKey: (key: string) => KeyKind
  /** If so, a variable may be code, whatever its name. */
  readonly runsCode: boolean
}

/**
 * Removes secrets from what an approver sees of a call, and counts what the approver does not see.
 * Shapes hide single words only: somebody else wrote the call, and could hide a command in what looks like a secret.
 */
export class DecisionRedactor {
  readonly #rules: Rules
  #hiddenChars = 0
  #isDoubtful = false

  constructor(rules: Rules) {
    this.#rules = rules
  }

  text(text: string): string {
    const { known } = this.#rules
    return this.#hideShapes(known ? known.hide(text, this.#markOf) : text)
  }

  /** Redacts a part of a line. */
  part(line: string, text: string): string {
    const { known } = this.#rules
    return this.#hideShapes(known ? known.hideWithin(line, text, this.#markOf) : text)
  }

  value<T>(value: T): T {
    const { lookAtKey, runsCode } = this.#rules
    const mayHide = (field: unknown) => {
      const isHidden = !runsCode || (typeof field === 'string' && OPAQUE.test(field))
      if (isHidden) this.#count(lengthOf(field))
      return isHidden
    }
    const text = (input: string) => this.text(input)
    return new RedactionWalk({ lookAtKey, text, mark: redactionMark, mayHide }).visit(value, 0) as T
  }

  /** Returns a warning if more is hidden than a few words in plain positions. */
  warning(): string | undefined {
    if (!this.#isDoubtful && this.#hiddenChars <= MANY_CHARS) return undefined
    return `WARNING: ${this.#hiddenChars} characters of this call are not shown, because they look like secrets or are known ones; where a mark stands alone on its line or in place of a command, they could be run.`
  }

  readonly #markOf = (hidden: string): string => {
    this.#count(hidden.length)
    const mark = redactionMark('secret')
    if (!SYNTAX.test(hidden) && hidden.length <= MANY_CHARS) return mark
    this.#isDoubtful = true
    return `${mark} (${hidden.length} characters not shown)`
  }

  #hideShapes(text: string): string {
    if (!mayHoldSecret(text)) return text
    return redactShown(text, (kind, chars) => {
      this.#count(chars)
      // Its words are on lines of their own, as commands are.
      if (kind === 'private-key') this.#isDoubtful = true
    })
  }

  #count(chars: number): void {
    this.#hiddenChars += chars
  }
}

function lengthOf(field: unknown): number {
  if (typeof field === 'string') return field.length
  return typeof field === 'object' && field !== null ? (JSON.stringify(field)?.length ?? 0) : 0
}

/** What a walk hides, and what replaces it. */
interface RedactionRules {
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
class RedactionWalk {
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

/** `GITHUB_TOKEN`: in the style of the environment a token is a secret. */
const ENVIRONMENT_TOKEN = /^[A-Z][A-Z0-9_]*_TOKEN$/

const MAX_REMEMBERED = 1_000
const MAX_KEY_LENGTH = 128

/** What a key is: ordinary, the name of a secret, or a secret itself. */
type KeyKind = 'ordinary' | 'names-secret' | 'is-secret'

/**
 * Creates the function that classifies keys; `keys` are further names of secrets, `redact` removes secrets from a text.
 */
export function lookAtKeys(
  keys: readonly string[] | undefined,
  redact: (text: string) => string,
): (key: string) => KeyKind {
  const names = new Set([...SECRET_KEYS, ...(keys ?? []).map(normalise)])
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
  return names.has(plain) || SECRET_KEY_ENDINGS.some((ending) => plain.endsWith(ending)) || ENVIRONMENT_TOKEN.test(key)
}

function normalise(key: string): string {
  return key.toLowerCase().replaceAll(/[-_\s]/g, '')
}
