import { RedactionWalk } from './redaction-walk.ts'
import { lookAtKeys } from './secret-keys.ts'
import { mayHoldSecret, SECRET_SHAPES } from './secret-shapes.ts'

/** What stands where a secret stood: `[redacted:github-token]`. */
export const REDACTION_MARK = /\[redacted:[a-z-]{1,40}\]/

/** Takes secrets out of what is written or returned. */
export interface Redactor {
  /**
   * The same value when it is plain data and holds no secret, otherwise a copy without them. What has a `toJSON`
   * becomes what that returns, an error its name and message. Never throws.
   */
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
const LONG_TEXT = 1_000

/** Makes a redactor: by key, by known value, and by the shape of well-known secrets. */
export function createRedactor({ keys, values = [] }: RedactorOptions = {}): Redactor {
  const known = knownValues(values)

  // A long text comes by several times on its way: in the data, in what the model sees, in the artifact.
  let lastClean = ''

  function text(input: string): string {
    if (input.length >= LONG_TEXT && input === lastClean) return input
    const output = redactText(input)
    if (output.length >= LONG_TEXT) lastClean = output
    return output
  }

  function redactText(input: string): string {
    const output = known && input.length >= SHORTEST_VALUE ? input.replace(known, mark('secret')) : input
    return mayHoldSecret(output) ? redactShapes(output) : output
  }

  const rules = { lookAtKey: lookAtKeys(keys, text), text, mark }
  return {
    value: <T>(value: T): T => new RedactionWalk(rules).visit(value, 0) as T,
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
