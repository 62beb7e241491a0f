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
  const forms = knownForms(values)
  const known = forms.length === 0 ? undefined : anyOf(forms)

  // A long text comes by several times on its way: in the data, in what the model sees, in the artifact.
  let lastClean = ''

  function text(input: string): string {
    if (input.length >= LONG_TEXT && input === lastClean) return input
    const output = redactText(input)
    if (output.length >= LONG_TEXT) lastClean = output
    return output
  }

  function redactText(input: string): string {
    const output =
      known && input.length >= SHORTEST_VALUE ? hideCut(input.replace(known, mark('secret')), forms) : input
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

/** What is left of a known value at the ends of a text that was cut somewhere before it came here. */
function hideCut(text: string, forms: readonly string[]): string {
  const head = text.slice(0, SHORTEST_VALUE)
  const tail = text.slice(-SHORTEST_VALUE)
  let [from, to] = [0, text.length]
  for (const form of forms) {
    // Hardly ever true, and then it is worth to look for how much of it there is.
    const isNear = form.includes(head) || form.includes(tail)
    for (let length = form.length - 1; isNear && length >= SHORTEST_VALUE; length--) {
      if (text.startsWith(form.slice(-length))) from = Math.max(from, length)
      if (text.endsWith(form.slice(0, length))) to = Math.min(to, text.length - length)
    }
  }
  if (from === 0 && to === text.length) return text
  return `${from > 0 ? mark('secret') : ''}${text.slice(from, Math.max(from, to))}${to < text.length ? mark('secret') : ''}`
}

/** All known values, in the forms they take inside of URLs, JSON and headers; the longest first. */
function knownForms(values: readonly string[]): string[] {
  const forms = new Set<string>()
  for (const value of values) {
    if (value.length < SHORTEST_VALUE) continue
    forms.add(value)
    forms.add(JSON.stringify(value).slice(1, -1))
    const bytes = Buffer.from(value)
    forms.add(bytes.toString('base64'))
    forms.add(encodeURIComponent(bytes.toString()))
  }
  return [...forms].sort((a, b) => b.length - a.length)
}

function anyOf(forms: readonly string[]): RegExp {
  return new RegExp(forms.map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g')
}
