/** The part of linkedom's DOM that is used here; the project has no DOM types. */
export interface PageNode {
  readonly nodeType: number
  readonly nodeName: string
  textContent: string
  readonly parentNode: PageElement | null
  readonly firstChild: PageNode | null
  readonly nextSibling: PageNode | null
  readonly childNodes: Iterable<PageNode>
  remove(): void
  after(...nodes: (PageNode | string)[]): void
}

/** An element of a page. */
export interface PageElement extends PageNode {
  getAttribute(name: string): string | null
  setAttribute(name: string, value: string): void
  removeAttribute(name: string): void
  hasAttribute(name: string): boolean
  append(...nodes: (PageNode | string)[]): void
  closest(selector: string): PageElement | null
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): Iterable<PageElement>
}

/** A page with its head and its body. */
export interface PageDocument {
  readonly documentElement: PageElement
  readonly body: PageElement
  readonly title: string
  readonly childNodes: Iterable<PageNode>
  createElement(name: string): PageElement
  append(...nodes: PageNode[]): void
  querySelectorAll(selector: string): Iterable<PageElement>
}

/** The kinds of nodes that matter, by `nodeType`. */
const ELEMENT_NODE = 1
export const TEXT_NODE = 3

/** Whether a node is an element. */
export function isElement(node: PageNode): node is PageElement {
  return node.nodeType === ELEMENT_NODE
}

/** Elements that show no text of the page, whatever their attributes are. */
const NO_TEXT = new Set(
  (
    'SCRIPT STYLE TEMPLATE NOSCRIPT IFRAME FRAME FRAMESET OBJECT EMBED APPLET SVG MATH CANVAS AUDIO VIDEO MAP ' +
    'INPUT SELECT DATALIST TEXTAREA PROGRESS METER NOEMBED NOFRAMES PLAINTEXT PORTAL'
  ).split(' '),
)

/** Declarations with which a page hides an element. */
const HIDING: ReadonlyMap<string, RegExp> = new Map([
  ['display', /^none/],
  ['visibility', /^(hidden|collapse)/],
  ['content-visibility', /^hidden/],
  ['opacity', /^0*(\.0*)?%?( |!|$)/],
  ['font-size', /^[+-]?0*(\.0*)?(px|r?em|pt|%|vw|vh)?( |!|$)/],
  ['text-indent', /^-\d{3}/],
  ['left', /^-\d{3}/],
  ['top', /^-\d{3}/],
])

/** Longer styles are read up to this length; no real style hides an element after it. */
const MAX_STYLE_CHARS = 10_000

const MAX_ALT_CHARS = 500
const MAX_URL_CHARS = 2_000

/**
 * Removes from a page what is invisible (comments, hidden elements and characters) and what must not be kept: scripts,
 * pictures except for their description, links that are not web addresses. Returns how many elements are left.
 */
export function cleanPage(document: PageDocument, url: string): { readonly elements: number } {
  const base = baseOf(document, url)
  let elements = 0
  let node: PageNode | null = document.body
  while (node) {
    const isKept = cleanNode(node, base)
    const next = nextNode(node, document.body, { skipChildren: !isKept })
    if (isKept && isElement(node)) elements++
    if (!isKept) node.remove()
    node = next
  }
  return { elements }
}

/** Returns false for a node that is removed with all of its children. */
function cleanNode(node: PageNode, base: string): boolean {
  if (node.nodeType === TEXT_NODE) {
    const text = cleanText(node.textContent)
    if (text !== node.textContent) node.textContent = text
    return true
  }
  if (!isElement(node) || isHidden(node)) return false
  node.removeAttribute('title')
  if (node.nodeName === 'IMG') return nameImage(node)
  if (node.nodeName === 'A') nameTarget(node, base)
  return true
}

/** A picture is removed; its description stays as a text after it. */
function nameImage(image: PageElement): false {
  const alt = cleanLine(image.getAttribute('alt') ?? '').slice(0, MAX_ALT_CHARS)
  if (alt !== '') image.after(` (image: ${alt}) `)
  return false
}

function nameTarget(link: PageElement, base: string): void {
  const target = absolute(link.getAttribute('href') ?? '', base)
  if (target) link.setAttribute('href', target)
  if (!target) link.removeAttribute('href')
}

/** A page may set what its links are relative to. */
function baseOf(document: PageDocument, url: string): string {
  for (const element of document.querySelectorAll('base'))
    return absolute(element.getAttribute('href') ?? '', url) ?? url
  return url
}

function absolute(href: string, base: string): string | undefined {
  if (href.length > MAX_URL_CHARS || !URL.canParse(href, base)) return undefined
  const url = new URL(href, base)
  return /^(https?|mailto|tel):/.test(url.protocol) && url.href.length <= MAX_URL_CHARS ? url.href : undefined
}

/** The next node in document order; without recursion, since pages may be nested to any depth. */
function nextNode(node: PageNode, root: PageNode, { skipChildren = false } = {}): PageNode | null {
  if (!skipChildren && node.firstChild) return node.firstChild
  for (let current: PageNode | null = node; current && current !== root; current = current.parentNode)
    if (current.nextSibling) return current.nextSibling
  return null
}

/** Whether a reader of the page does not see an element. Only its own attributes are checked, not style sheets. */
export function isHidden(element: PageElement): boolean {
  if (NO_TEXT.has(element.nodeName.toUpperCase())) return true
  if (element.hasAttribute('hidden') || element.getAttribute('aria-hidden')?.trim().toLowerCase() === 'true')
    return true
  if (element.nodeName === 'DIALOG' && !element.hasAttribute('open')) return true
  const style = element.getAttribute('style')
  return style !== null && hides(style.slice(0, MAX_STYLE_CHARS))
}

function hides(style: string): boolean {
  // Comments and escapes are the two ways to write `display:none` without writing it.
  const plain = style.replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '').replace(/\\([0-9a-f]{1,6}\s?|.)/gi, unescapeCss)
  return plain.split(';').some((declaration) => {
    const colon = declaration.indexOf(':')
    if (colon === -1) return false
    const property = declaration.slice(0, colon).trim().toLowerCase()
    return (
      HIDING.get(property)?.test(
        declaration
          .slice(colon + 1)
          .trim()
          .toLowerCase(),
      ) ?? false
    )
  })
}

function unescapeCss(_: string, escaped: string): string {
  const code = /[0-9a-f]/i.test(escaped) ? Number.parseInt(escaped, 16) : Number.NaN
  if (Number.isNaN(code)) return escaped
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

/** Joiners of letters or emoji are kept where they join: between two characters that are not ASCII. */
const JOINER = String.raw`(?<=[^\p{ASCII}\p{Cf}])[\u200c\u200d](?=[^\p{ASCII}\p{Cf}])`

/**
 * Control characters except tab and line break, format characters (zero-width, bidi, tags), lone surrogates, invisible
 * fillers, and the variation selectors that can carry bytes.
 */
const INVISIBLE = String.raw`[^\P{Cc}\t\n]|\p{Cf}|\p{Cs}|[\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u3164\uffa0\u{e0100}-\u{e01ef}]|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]`

const JOINER_OR_INVISIBLE = new RegExp(`(${JOINER})|${INVISIBLE}`, 'gu')

/** Removes characters that a person does not see and a model reads: they can carry hidden instructions. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replace(JOINER_OR_INVISIBLE, '$1')
}

/** The same, as one line. */
export function cleanLine(text: string): string {
  return cleanText(text).replace(/\s+/g, ' ').trim()
}

/** Removes repeated empty lines, blanks at line ends, and blanks around the text. */
export function tidyLines(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const trimmed = line.trimEnd()
    if (trimmed !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(trimmed)
  }
  if (lines.at(-1) === '') lines.pop()
  return lines.join('\n')
}
