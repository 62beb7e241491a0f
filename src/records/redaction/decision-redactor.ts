import type { KnownValues } from './known-values.ts'
import { redactionMark } from './redaction-mark.ts'
import { RedactionWalk } from './redaction-walk.ts'
import type { KeyKind } from './secret-keys.ts'
import { mayHoldSecret, redactShown } from './secret-shapes.ts'

/** What ends one command and begins another, or makes a word more than a word. */
const SYNTAX = /[\s;|&$()<>`"'\\{}]/
/** More than a secret has; nobody guesses what so much of a call says. */
const MANY_CHARS = 4_000
/** A password or token; no words, no path, and nothing that a shell would read as more than a word. */
const OPAQUE = /^(?=.*\d)[\w.~+=:@%,-]{8,200}$/

/** What a redactor knows, and whether the call runs code. */
interface Rules {
  readonly known: KnownValues | undefined
  readonly lookAtKey: (key: string) => KeyKind
  /** Then a variable may be code, whatever its name says. */
  readonly runsCode: boolean
}

/**
 * Takes secrets out of what a person sees who decides on a call, and keeps account of what that person does not see.
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

  /** The text of a part of a line. */
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

  /** What to say when more is hidden than a few words of which it is plain where they stand. */
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
      // Its words stand on lines of their own, as commands do.
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
