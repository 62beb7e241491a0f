import { ToolError } from '../../../core/index.ts'
import { Meter } from '../meter.ts'
import { parseTemplate, type Token } from './parse-template.ts'

/** Options of a renderer. */
interface RenderOptions {
  readonly partials: ReadonlyMap<string, string>
  readonly escape: 'html' | 'none'
  readonly maxBytes: number
}

/** The values in which names are looked up, innermost first. */
interface Frame {
  readonly value: unknown
  readonly outer: Frame | undefined
}

/** Nesting of sections and partials: each uses some of the stack. */
const MAX_DEPTH = 400
/** The beginning of every line that is not empty. */
const LINE = /^(?!$)/gm
const CHEAPER = 'Render fewer items, or avoid sections inside sections over long lists.'

/** Renders one Mustache template; throws as soon as the text or the work exceeds its limit. */
export class TemplateRenderer {
  readonly #options: RenderOptions
  readonly #meter = new Meter('The template', CHEAPER)
  readonly #parsed = new Map<string, Token[]>()
  readonly #pieces: string[] = []
  #bytes = 0

  constructor(options: RenderOptions) {
    this.#options = options
  }

  /** Renders the template with the data. */
  render(template: string, data: unknown): string {
    this.#renderTokens(parseTemplate(template), { value: data, outer: undefined }, 0)
    return this.#pieces.join('')
  }

  #renderTokens(tokens: readonly Token[], frame: Frame, depth: number): void {
    for (const token of tokens) {
      this.#meter.spend(1)
      if (token.type === 'text') this.#write(token.text)
      else if (token.type === 'value') this.#writeValue(this.#lookUp(token.name, frame), token.raw)
      else if (token.type === 'section') this.#renderSection(token, frame, depth)
      else this.#renderPartial(token, frame, depth)
    }
  }

  #renderSection(token: Extract<Token, { type: 'section' }>, frame: Frame, depth: number): void {
    const value = this.#lookUp(token.name, frame)
    const items = Array.isArray(value) ? value : value ? [value] : []
    if (token.inverted) {
      if (items.length === 0) this.#renderTokens(token.tokens, frame, depth + 1)
      return
    }
    this.#meter.spend(items.length)
    for (const item of items) this.#renderTokens(token.tokens, { value: item, outer: frame }, depth + 1)
  }

  #renderPartial({ name, indent }: Extract<Token, { type: 'partial' }>, frame: Frame, depth: number): void {
    const partial = this.#options.partials.get(name)
    if (partial === undefined) return
    if (depth >= MAX_DEPTH) {
      throw new ToolError(
        'INPUT_SCHEMA_INVALID',
        `Sections and partials nest deeper than ${MAX_DEPTH}, the last is {{>${name}}}.`,
        {
          fix: { key: 'partials', hint: 'A partial that includes itself needs a section around it that ends.' },
        },
      )
    }
    const key = `${indent}>${name}`
    this.#meter.spend(key.length >> 4)
    let tokens = this.#parsed.get(key)
    if (!tokens) {
      tokens = parseTemplate(this.#indented(partial, indent))
      this.#parsed.set(key, tokens)
    }
    this.#renderTokens(tokens, frame, depth + 1)
  }

  /** Every line of a standalone partial is indented like its tag; metered before it is built. */
  #indented(partial: string, indent: string): string {
    this.#meter.spend(partial.length)
    if (indent === '') return partial
    const lines = partial.match(LINE)?.length ?? 0
    this.#meter.spend(lines * indent.length)
    return partial.replaceAll(LINE, indent)
  }

  /**
   * Own properties only, so that {{constructor}} finds nothing. The first part of a name decides where the rest is
   * looked up.
   */
  #lookUp([first, ...rest]: readonly string[], frame: Frame): unknown {
    if (first === undefined) return frame.value
    let place: Frame | undefined = frame
    while (place && !hasOwn(place.value, first)) {
      this.#meter.spend(1)
      place = place.outer
    }
    let value = place && (place.value as Record<string, unknown>)[first]
    this.#meter.spend(rest.length)
    for (const part of rest) value = hasOwn(value, part) ? value[part] : undefined
    return value
  }

  #writeValue(value: unknown, raw: boolean): void {
    if (value === undefined || value === null) return
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    this.#write(raw || this.#options.escape === 'none' ? text : escapeHtml(text))
  }

  #write(text: string): void {
    this.#bytes += Buffer.byteLength(text)
    if (this.#bytes <= this.#options.maxBytes) {
      this.#pieces.push(text)
      return
    }
    throw new ToolError(
      'FILE_TOO_LARGE',
      `The rendered text has more than ${this.#options.maxBytes} bytes, the limit.`,
      {
        fix: {
          key: 'maxBytes',
          hint: 'Raise maxBytes (at most 10485760), or render it in parts and write each to a file.',
        },
      },
    )
  }
}

function hasOwn(value: unknown, key: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
}

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
])

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES.get(char)!)
}
