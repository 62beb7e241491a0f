import { KnownValues } from './known-values.ts'
import { type KeyKind, lookAtKeys, RedactionWalk } from './redaction-walk.ts'
import { mayHoldSecret, redactShapes, redactShown } from './secret-shapes.ts'
import { ShapeStage } from './shape-stage.ts'
import { FoldedStage, KeyBlockStage, KnownStage, type Stage } from './stages.ts'
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
  /** Values of secrets. Those shorter than 8 characters would match ordinary text, and are ignored. */
  readonly values?: readonly string[]
}

const LONG_TEXT = 1_000

/** Creates a redactor: by key, by known value, and by the shape of well-known secrets. */
export function createRedactor({ keys, values = [] }: RedactorOptions = {}): Redactor {
  const all = [...values]
  let known = KnownValues.of(all)
  let knownBytes: KnownValues | undefined

  // A long text is redacted several times: in the data, in what the model sees, in the artifact.
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

/**
 * Removes secrets from bytes that come piece by piece, wherever the pieces are cut: together they are what redaction of
 * the whole would be. Bytes are read as Latin-1, so that those that are not text pass unchanged. What it returns may be
 * the same bytes.
 */
class RedactStream {
  readonly #stages: readonly Stage[]

  constructor(known: KnownValues | undefined) {
    const hiding = known ? [new KnownStage(known), ...known.folded.map((values) => new FoldedStage(values))] : []
    this.#stages = [...hiding, new KeyBlockStage(), new ShapeStage()]
  }

  /** Returns what is certain now. The last word is held until its end, because it may be the beginning of a secret. */
  push(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const input = buffer.toString('latin1')
    let text = input
    for (const stage of this.#stages) text = stage.push(text)
    return text === input ? buffer : Buffer.from(text, 'latin1')
  }

  /**
   * Returns held text that does not look like a secret, after a pause in the stream: a prompt, a row of dots. At most
   * the first three characters of a known value are released, and of a shape only what is not secret yet: `sk`,
   * `-----BEGIN`.
   */
  flush(): Uint8Array {
    return this.#drain((stage) => stage.flush())
  }

  /** Returns the rest; the beginning of a known value that was cut off is hidden. */
  end(): Uint8Array {
    return this.#drain((stage) => stage.end())
  }

  #drain(last: (stage: Stage) => string): Uint8Array {
    let text = ''
    for (const stage of this.#stages) text = stage.push(text) + last(stage)
    return Buffer.from(text, 'latin1')
  }
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
