import { OpenElements } from './open-elements.ts'

/** Only a page that hides hundreds of elements inside each other gets here. */
const REFUSE_FROM = 512

const VOID = new Set('area base br col embed frame hr img input link meta param source track wbr'.split(' '))

/** Elements whose content is no markup. */
const RAW = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'plaintext'])

/** A tag as it stands in the page, `<` and `>` included. */
interface Tag {
  readonly start: number
  readonly end: number
  readonly name: string
  readonly isEnd: boolean
}

/**
 * Takes tags out of a page that is nested absurdly deep: trees of that depth cost the parser quadratic time and
 * everything after it its stack. Linear, whatever the page is; gives `undefined` for one that must not be parsed.
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

/** The tags that count for the depth. A tag ends at the first `>`, which is near enough for counting. */
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

/** A `>` inside quotes did not end the tag, so what else it says is not known. */
function isOdd(tag: string, quote: string): boolean {
  return tag.split(quote).length % 2 === 0
}
