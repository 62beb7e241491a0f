import { DecisionRedactor } from './decision-redactor.ts'
import type { FoldedValues } from './folded-values.ts'
import { KnownValues } from './known-values.ts'
import { redactionMark } from './redaction-mark.ts'
import { RedactionWalk } from './redaction-walk.ts'
import { lookAtKeys } from './secret-keys.ts'
import { mayHoldSecret, redactShapes } from './secret-shapes.ts'
import { KeyBlockStage } from './stages/key-block-stage.ts'
import { KnownStage } from './stages/known-stage.ts'
import { ShapeStage } from './stages/shape-stage.ts'
import type { Stage } from './stages/stage.ts'

/** So few characters tell nothing of a value, and a prompt may end like this. */
const MAX_SHOWN = 3

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
  /** The same for one ask, for anyone who decides on the call: nothing is hidden that could be code. */
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

/**
 * Takes secrets out of bytes that come piece by piece, wherever the pieces are cut: all pieces together give what the
 * redaction of the whole gives. Bytes are read as Latin-1, so that those that are no text pass unchanged. What it gives
 * back may be what it was given.
 */
class RedactStream {
  readonly #stages: readonly Stage[]

  constructor(known: KnownValues | undefined) {
    const hiding = known ? [new KnownStage(known), ...known.folded.map((values) => new FoldedStage(values))] : []
    this.#stages = [...hiding, new KeyBlockStage(), new ShapeStage()]
  }

  /** What is certain now. The last word waits for its end, as it may be the beginning of a secret. */
  push(bytes: Uint8Array): Uint8Array {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const input = buffer.toString('latin1')
    let text = input
    for (const stage of this.#stages) text = stage.push(text)
    return text === input ? buffer : Buffer.from(text, 'latin1')
  }

  /**
   * What waits and does not look like a secret, for when nothing came for a while: a prompt, a row of dots. At most the
   * first three characters of a known value go out so, and of a shape only what is no secret yet: `sk`, `-----BEGIN`.
   */
  flush(): Uint8Array {
    return this.#drain((stage) => stage.flush())
  }

  /** What is left; the beginning of a known value that was cut off is hidden. */
  end(): Uint8Array {
    return this.#drain((stage) => stage.end())
  }

  #drain(last: (stage: Stage) => string): Uint8Array {
    let text = ''
    for (const stage of this.#stages) text = stage.push(text) + last(stage)
    return Buffer.from(text, 'latin1')
  }
}

/** Takes values out of a stream that are encoded or broken; what it ends with may be the beginning of one, and waits. */
export class FoldedStage implements Stage {
  readonly #values: FoldedValues
  #held = ''
  /** So many characters of `#held` went out before. */
  #shown = 0

  constructor(values: FoldedValues) {
    this.#values = values
  }

  push(input: string): string {
    return this.#settle(this.#held + input, false)
  }

  flush(): string {
    if (this.#values.countShown(this.#held) > MAX_SHOWN) return ''
    const output = this.#held.slice(this.#shown)
    this.#shown = this.#held.length
    return output
  }

  end(): string {
    return this.#settle(this.#held, true)
  }

  #settle(text: string, isEnd: boolean): string {
    const beginning = (from: number) => (isEnd ? text.length : this.#values.beginning(text, from))
    let from = 0
    let tail = beginning(0)
    let output = ''
    for (const { index, end } of this.#values.places(text)) {
      if (index >= tail) break
      output += text.slice(Math.max(from, this.#shown), index) + redactionMark('secret')
      from = end
      if (from > tail) tail = beginning(from)
    }
    output += text.slice(Math.max(from, this.#shown), tail)
    this.#held = text.slice(tail)
    this.#shown = Math.max(0, this.#shown - tail)
    return output
  }
}
