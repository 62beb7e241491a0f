import { ToolError } from '../../../core/errors.ts'
import { quote } from '../quote.ts'

/** Goes through the lines of a patch once, and knows where it is when something is wrong. */
export class PatchReader {
  readonly #lines: readonly string[]
  #at = 0

  constructor(input: string) {
    this.#lines = input.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  }

  /** 1-based number of the line that comes next. */
  get line(): number {
    return this.#at + 1
  }

  peek(): string | undefined {
    return this.#lines[this.#at]
  }

  next(): void {
    this.#at++
  }

  skipBlank(): void {
    while (this.peek()?.trim() === '') this.next()
  }

  /** Only lines with nothing at all on them: a single blank is an empty line of the file. */
  skipEmpty(): void {
    while (this.peek() === '') this.next()
  }

  /** What follows a mark, when the next line has it. */
  take(mark: string): string | undefined {
    const line = this.peek()
    if (!line?.startsWith(mark)) return undefined
    const rest = line.slice(mark.length).trim()
    if (rest === '') throw this.expected(`a path after "${mark.trim()}"`)
    this.next()
    return rest
  }

  /** What follows `@@`, when the next line begins with it. */
  takeAnchor(): string | undefined {
    const line = this.peek()
    if (line !== '@@' && !line?.startsWith('@@ ')) return undefined
    this.next()
    return line.slice(3)
  }

  expected(what: string): ToolError {
    const line = this.peek()
    const found = line === undefined ? 'the patch ends' : `it has ${quote(line, 80)}`
    return new ToolError('INPUT_SCHEMA_INVALID', `Line ${this.line} of the patch: expected ${what}, but ${found}.`, {
      fix: {
        key: 'input',
        hint: 'Each line of a change begins with a blank, + or -; see the description of the tool.',
      },
    })
  }
}
