import { secretKeys } from './secret-keys.ts'
import { mayHoldSecret, SECRET_SHAPES } from './secret-shapes.ts'

/** What stands where a secret stood: `[redacted:github-token]`. */
export const REDACTION_MARK = /\[redacted:[a-z-]{1,40}\]/

/** Takes secrets out of what is written or returned. */
export interface Redactor {
  /** The same value when it holds no secret, otherwise a copy without them. */
  value<T>(value: T): T
  text(text: string): string
  /** True for a text that holds a mark: it is not the real content and must not be written back. */
  isMark(text: string): boolean
}

/** What the owner knows to be secret. */
interface RedactorOptions {
  readonly keys?: readonly string[]
  /** Values of secrets; shorter than 8 characters they would hit ordinary text, and are ignored. */
  readonly values?: readonly string[]
}

const SHORTEST_VALUE = 8
const MOST_DEPTH = 100
/** From here on visited objects are remembered: cycles and shared parts then cost no more than their size. */
const FEW_NODES = 500

/** Makes a redactor: by key, by known value, and by the shape of well-known secrets. */
export function createRedactor({ keys, values = [] }: RedactorOptions = {}): Redactor {
  const isSecretKey = secretKeys(keys)
  const known = knownValues(values)

  function text(input: string): string {
    const output = known && input.length >= SHORTEST_VALUE ? input.replace(known, mark('secret')) : input
    return mayHoldSecret(output) ? redactShapes(output) : output
  }

  return {
    value: <T>(value: T): T => new Walk(isSecretKey, text).visit(value, 0) as T,
    text,
    isMark: (input) => input.includes('[redacted:') && REDACTION_MARK.test(input),
  }
}

function mark(kind: string): string {
  return `[redacted:${kind}]`
}

function redactShapes(text: string): string {
  let output = text
  for (const { kind, pattern, isSecret, replace } of SECRET_SHAPES) {
    output = output.replace(pattern, (match) => {
      if (isSecret && !isSecret(match)) return match
      return replace ? replace(match, mark(kind)) : mark(kind)
    })
  }
  return output
}

/** One pass over a value. Copies only the branch in which something changed. */
class Walk {
  readonly #isSecretKey: (key: string) => boolean
  readonly #text: (text: string) => string
  #nodes = 0
  #seen: Map<object, unknown> | undefined

  constructor(isSecretKey: (key: string) => boolean, text: (text: string) => string) {
    this.#isSecretKey = isSecretKey
    this.#text = text
  }

  visit(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value)
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
    if (depth > MOST_DEPTH) return mark('too-deep')
    if (++this.#nodes <= FEW_NODES) return this.#visitObject(value, depth)
    this.#seen ??= new Map()
    if (this.#seen.has(value)) return this.#seen.get(value)
    this.#seen.set(value, mark('cycle'))
    const output = this.#visitObject(value, depth)
    this.#seen.set(value, output)
    return output
  }

  #visitObject(value: object, depth: number): unknown {
    return Array.isArray(value)
      ? this.#visitArray(value, depth)
      : this.#visitRecord(value as Record<string, unknown>, depth)
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

  #visitRecord(value: Record<string, unknown>, depth: number): Record<string, unknown> {
    let copy: Record<string, unknown> | undefined
    for (const key of Object.keys(value)) {
      const field = value[key]
      const output = this.#isSecretKey(key) ? this.#hide(field, depth) : this.visit(field, depth + 1)
      if (output === field) continue
      copy ??= { ...value }
      // Not by assignment, which would set the prototype for the key `__proto__`.
      Object.defineProperty(copy, key, { value: output, enumerable: true, writable: true, configurable: true })
    }
    return copy ?? value
  }

  /** The value of a secret key: a text or number, or a list of them as headers have it. */
  #hide(field: unknown, depth: number): unknown {
    if (isSecretValue(field)) return mark('key')
    if (!Array.isArray(field) || !field.some(isSecretValue)) return this.visit(field, depth + 1)
    return field.map((item) => (isSecretValue(item) ? mark('key') : this.visit(item, depth + 2)))
  }
}

function isSecretValue(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number'
}

/** One pattern for all known values, in the forms they take inside of URLs, JSON and headers. */
function knownValues(values: readonly string[]): RegExp | undefined {
  const forms = new Set<string>()
  for (const value of values) {
    if (value.length < SHORTEST_VALUE) continue
    forms.add(value)
    forms.add(JSON.stringify(value).slice(1, -1))
    const bytes = Buffer.from(value)
    forms.add(bytes.toString('base64'))
    forms.add(encodeURIComponent(bytes.toString()))
  }
  if (forms.size === 0) return undefined
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  return new RegExp(longestFirst.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}
