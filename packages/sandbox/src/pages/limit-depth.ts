/** Several times what pages have; what is nested deeper becomes a sibling of its parent, as in browsers (from 512 on). */
const FLATTEN_FROM = 256

/** How far an end tag searches for its element; beyond, it ends nothing. */
const MAX_LOOK_BACK = 256

/** Elements whose start tag ends others that are still open. */
const ENDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['p', ['p']],
  ['li', ['li']],
  ['dt', ['dt', 'dd']],
  ['dd', ['dt', 'dd']],
  ['rt', ['rt', 'rp']],
  ['rp', ['rt', 'rp']],
  ['td', ['td', 'th', 'thead']],
  ['th', ['td', 'th']],
  ['tr', ['tr', 'td', 'th']],
  ['tbody', ['tr', 'td', 'th', 'thead', 'tbody']],
  ['tfoot', ['tr', 'td', 'th', 'thead', 'tbody']],
  ['option', ['option']],
  ['optgroup', ['option', 'optgroup']],
])

/** Only a page that nests hundreds of hidden elements exceeds this. */
const REFUSE_FROM = 512

const VOID = new Set('area base br col embed frame hr img input link meta param source track wbr'.split(' '))

/** Elements whose content is not markup. */
const RAW = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'])

/** A tag as it stands in the page, `<` and `>` included. */
interface Tag {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly isEnd: boolean
}

/**
 * Removes tags from a page that is nested absurdly deep: trees of that depth take the parser quadratic time and overflow
 * the stack of everything after it. Takes linear time. Returns undefined for a page that must not be parsed.
 */
export function limitDepth(html: string): string | undefined {
  const open = new OpenElements()
  const kept: string[] = []
  let from = 0
  for (const tag of tagsOf(html)) {
    const isDropped = tag.isEnd ? open.end(tag.name) : open.begin(tag.name, mayHide(html, tag))
    if (open.depth >= REFUSE_FROM) return undefined
    if (!isDropped) continue
    kept.push(html.slice(from, tag.start))
    from = tag.end
  }
  return from === 0 ? html : kept.join('') + html.slice(from)
}

/** The tags that count for the depth. A tag ends at the first `>`, which is accurate enough for counting. */
function* tagsOf(html: string): Generator<Tag> {
  for (let start = html.indexOf('<'); start !== -1; ) {
    const end = html.startsWith('<!--', start) ? after(html, '-->', start + 4) : after(html, '>', start)
    if (end === 0) return
    const name = tagName(html, start, end)
    const isEnd = html[start + 1] === '/'
    if (name !== '' && !VOID.has(name) && html[end - 2] !== '/') yield { start, end, name, isEnd }
    start = html.indexOf('<', !isEnd && RAW.has(name) ? endOfRaw(html, name, end) : end)
  }
}

function after(html: string, what: string, from: number): number {
  const at = html.indexOf(what, from)
  return at === -1 ? 0 : at + what.length
}

function tagName(html: string, start: number, end: number): string {
  return /^<\/?([a-z][a-z0-9]{0,15})/i.exec(html.slice(start, Math.min(end, start + 20)))?.[1]?.toLowerCase() ?? ''
}

function endOfRaw(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi')
  closing.lastIndex = from
  return closing.exec(html)?.index ?? html.length
}

/** Hiding attributes and raw content must stay with what they hide. */
function mayHide(html: string, { start, end, name }: Tag): boolean {
  if (RAW.has(name) || name === 'template' || name === 'noscript') return true
  const tag = html.slice(start, end)
  return /hidden|style/i.test(tag) || isOdd(tag, '"') || isOdd(tag, "'")
}

/** Whether a `>` inside quotes may have cut the tag: its other attributes are then unknown. */
function isOdd(tag: string, quote: string): boolean {
  return tag.split(quote).length % 2 === 0
}

/** An open element; the tags of a dropped one are removed from the page. */
interface OpenElement {
  readonly name: string
  readonly isDropped: boolean
}

/** The open elements during the scan of a page. Both methods return whether the tag is removed. */
export class OpenElements {
  readonly #stack: OpenElement[] = []
  /** How many of each name are open: most end tags without a start tag are detected without a search. */
  readonly #counts = new Map<string, number>()
  #depth = 0

  /** How many of them stay in the page. */
  get depth(): number {
    return this.#depth
  }

  begin(name: string, mustStay: boolean): boolean {
    const ended = ENDS.get(name) ?? []
    while (ended.includes(this.#stack.at(-1)?.name ?? '')) this.#endFrom(this.#stack.length - 1)
    const isDropped = this.#depth >= FLATTEN_FROM && !mustStay
    this.#stack.push({ name, isDropped })
    this.#count(name, 1)
    if (!isDropped) this.#depth++
    return isDropped
  }

  /** Ends the innermost element of the name and, as browsers do, all that is open inside it. */
  end(name: string): boolean {
    const index = this.#find(name)
    const element = this.#stack[index]
    if (!element) return this.#depth >= FLATTEN_FROM
    // Its start tag was removed, so its end tag must not end open elements inside: they may hide something.
    if (element.isDropped && this.#stack.slice(index).some(({ isDropped }) => !isDropped)) return true
    this.#endFrom(index)
    return element.isDropped
  }

  #find(name: string): number {
    if (!this.#counts.get(name)) return -1
    const least = Math.max(0, this.#stack.length - MAX_LOOK_BACK)
    for (let index = this.#stack.length - 1; index >= least; index--)
      if (this.#stack[index]?.name === name) return index
    return -1
  }

  #endFrom(index: number): void {
    while (this.#stack.length > index) {
      const element = this.#stack.pop()!
      this.#count(element.name, -1)
      if (!element.isDropped) this.#depth--
    }
  }

  #count(name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }
}
