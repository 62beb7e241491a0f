import { DecisionRedactor } from './decision-redactor.ts'
import { KnownValues } from './known-values.ts'
import { RedactStream } from './redact-stream.ts'
import { redactionMark } from './redaction-mark.ts'
import { RedactionWalk } from './redaction-walk.ts'
import { lookAtKeys } from './secret-keys.ts'
import { mayHoldSecret, redactShapes } from './secret-shapes.ts'

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
  /** The same for one ask, for whoever decides on the call: nothing is hidden that could be code. */
  forDecision(options?: { readonly runsCode?: boolean }): DecisionRedactor
  /** The same for bytes that come piece by piece, such as the output of a command. */
  stream(): RedactStream
  /** Takes further values for secrets from now on. */
  hide(values: readonly string[]): void
  /** True for a text that holds a mark: it is not the real content and must not be written back. */
  isMark(text: string): boolean
}

/** What the owner knows to be secret. */
interface RedactorOptions {
  readonly keys?: readonly string[]
  /** Values of secrets; shorter than 8 characters they would hit ordinary text, and are ignored. */
  readonly values?: readonly string[]
}

const LONG_TEXT = 1_000

/** Makes a redactor: by key, by known value, and by the shape of well-known secrets. */
export function createRedactor({ keys, values = [] }: RedactorOptions = {}): Redactor {
  const all = [...values]
  let known = KnownValues.of(all)
  let knownBytes: KnownValues | undefined

  // A long text comes by several times on its way: in the data, in what the model sees, in the artifact.
  let lastClean = ''

  function text(input: string): string {
    if (input.length >= LONG_TEXT && input === lastClean) return input
    const output = redactText(input)
    if (output.length >= LONG_TEXT) lastClean = output
    return output
  }

  function redactText(input: string): string {
    const output = known ? known.hide(input) : input
    return mayHoldSecret(output) ? redactShapes(output) : output
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
