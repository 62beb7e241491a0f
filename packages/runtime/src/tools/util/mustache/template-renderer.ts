import { ToolError } from '@tool-hub/core'
import { Meter } from '../meter.ts'

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

/** A part of a parsed template. A name is split at its dots; `.` alone is the empty list: the current value. */
type Token =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'value'; readonly name: readonly string[]; readonly raw: boolean }
  | { readonly type: 'section'; readonly name: readonly string[]; readonly inverted: boolean; readonly tokens: Token[] }
  | { readonly type: 'partial'; readonly name: string; readonly indent: string }

interface Tag {
  readonly sigil: string
  readonly content: string
  readonly start: number
  readonly end: number
}

interface OpenSection {
  readonly tag: Tag
  readonly tokens: Token[]
}

const MAX_SECTION_DEPTH = 100
const MAX_NAME_PARTS = 64
const MAX_DELIMITER_LENGTH = 16

/** Parses a Mustache template (mustache.github.io/mustache.5) in one pass. */
function parseTemplate(template: string): Token[] {
  const root: Token[] = []
  const sections: OpenSection[] = []
  let delimiters: readonly [string, string] = ['{{', '}}']
  let tokens = root
  let position = 0

  for (let tag = nextTag(template, 0, delimiters); tag; tag = nextTag(template, position, delimiters)) {
    const line = standaloneLine(template, position, tag)
    pushText(tokens, template.slice(position, line?.start ?? tag.start))
    position = line?.end ?? tag.end

    if (tag.sigil === '#' || tag.sigil === '^') {
      if (sections.length === MAX_SECTION_DEPTH)
        throw invalid(template, tag, `sections nest deeper than ${MAX_SECTION_DEPTH}`)
      sections.push({ tag, tokens })
      const inner: Token[] = []
      tokens.push({ type: 'section', name: splitName(template, tag), inverted: tag.sigil === '^', tokens: inner })
      tokens = inner
    } else if (tag.sigil === '/') {
      const open = sections.pop()
      if (open?.tag.content !== tag.content) throw invalid(template, tag, `{{/${tag.content}}} closes no open section`)
      tokens = open.tokens
    } else if (tag.sigil === '>') {
      tokens.push({ type: 'partial', name: tag.content, indent: line ? template.slice(line.start, tag.start) : '' })
    } else if (tag.sigil === '=') {
      delimiters = readDelimiters(template, tag)
    } else if (tag.sigil !== '!') {
      tokens.push({ type: 'value', name: splitName(template, tag), raw: tag.sigil !== '' })
    }
  }

  const open = sections.pop()
  if (open) throw invalid(template, open.tag, `{{${open.tag.sigil}${open.tag.content}}} is never closed`)
  pushText(tokens, template.slice(position))
  return root
}

function nextTag(template: string, from: number, [opening, closing]: readonly [string, string]): Tag | undefined {
  const start = template.indexOf(opening, from)
  if (start === -1) return undefined
  let inside = start + opening.length
  while (isBlank(template[inside]) || isLineEnd(template[inside])) inside++
  const sigil = '#^/>&{=!'.includes(template[inside] ?? ' ') ? template[inside]! : ''
  const close = (sigil === '{' ? '}' : sigil === '=' ? '=' : '') + closing
  const stop = template.indexOf(close, inside + sigil.length)
  if (stop === -1) throw invalid(template, { start }, `the tag ${opening}${sigil} is never closed by ${close}`)
  return { sigil, content: template.slice(inside + sigil.length, stop).trim(), start, end: stop + close.length }
}

/** The whole line, if a tag without output is alone on it: such a line is removed. */
function standaloneLine(template: string, from: number, tag: Tag): { start: number; end: number } | undefined {
  if (tag.sigil === '' || tag.sigil === '&' || tag.sigil === '{') return undefined
  let start = tag.start
  while (start > from && isBlank(template[start - 1])) start--
  if (start > 0 && template[start - 1] !== '\n') return undefined
  let end = tag.end
  while (isBlank(template[end])) end++
  if (template[end] === '\r' && template[end + 1] === '\n') end++
  if (end < template.length && template[end] !== '\n') return undefined
  return { start, end: Math.min(end + 1, template.length) }
}

function readDelimiters(template: string, tag: Tag): readonly [string, string] {
  const [opening, closing, ...more] = tag.content.split(/\s+/, 3)
  const fits = (delimiter: string | undefined) =>
    delimiter && delimiter.length <= MAX_DELIMITER_LENGTH && !delimiter.includes('=')
  if (!fits(opening) || !fits(closing) || more.length > 0) {
    throw invalid(
      template,
      tag,
      `a change of delimiters is written {{=<% %>=}}, at most ${MAX_DELIMITER_LENGTH} characters each`,
    )
  }
  return [opening!, closing!]
}

function splitName(template: string, tag: Tag): string[] {
  if (tag.content === '.') return []
  const parts = tag.content.split('.', MAX_NAME_PARTS + 1)
  if (parts.length <= MAX_NAME_PARTS) return parts
  throw invalid(template, tag, `the name ${tag.content.slice(0, 40)}… has more than ${MAX_NAME_PARTS} parts`)
}

function pushText(tokens: Token[], text: string): void {
  if (text !== '') tokens.push({ type: 'text', text })
}

function isBlank(char: string | undefined): boolean {
  return char === ' ' || char === '\t'
}

function isLineEnd(char: string | undefined): boolean {
  return char === '\n' || char === '\r'
}

function invalid(template: string, { start }: { start: number }, problem: string): ToolError {
  const line = template.slice(0, start).split('\n').length
  return new ToolError('INPUT_SCHEMA_INVALID', `The template is not valid in line ${line}: ${problem}.`, {
    fix: { key: 'template', hint: 'Close every {{tag}} and every {{#section}} with {{/section}}.' },
  })
}
