import { isElement, type PageElement, type PageNode, TEXT_NODE, tidyLines } from './clean-page.ts'

const PARAGRAPHS = new Set(
  (
    'ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY CENTER DETAILS DIV DL FIELDSET FIGCAPTION FIGURE FOOTER FORM H1 H2 H3 H4 H5 ' +
    'H6 HEADER HR MAIN NAV OL P PRE SECTION SUMMARY TABLE UL'
  ).split(' '),
)
const LINES = new Set(['BR', 'CAPTION', 'DD', 'DT', 'LI', 'TR'])
const CELLS = new Set(['TD', 'TH'])

/**
 * The text of an element as a person reads it: paragraphs apart, a list item a line, cells side by side.
 * Without recursion, so it also reads what nothing else could.
 */
export function toPlainText(root: PageElement): string {
  const page = new PlainText()
  let node: PageNode = root
  for (;;) {
    page.enter(node)
    if (node.firstChild) {
      node = node.firstChild
      continue
    }
    while (node !== root && !node.nextSibling) {
      page.leave(node)
      node = node.parentNode!
    }
    page.leave(node)
    if (node === root) return tidyLines(page.text())
    node = node.nextSibling!
  }
}

class PlainText {
  readonly #parts: string[] = []
  /** What comes before the next text, if any comes: line breaks, the blank between words, the mark of an item. */
  #breaks = 0
  #gap = ''
  #mark = ''
  #preformatted = 0

  text(): string {
    return this.#parts.join('')
  }

  enter(node: PageNode): void {
    if (node.nodeType === TEXT_NODE) this.#write(node.textContent)
    if (!isElement(node)) return
    this.#breakAround(node)
    if (node.nodeName === 'LI') this.#mark = '- '
    if (node.nodeName === 'PRE') this.#preformatted++
  }

  leave(node: PageNode): void {
    if (!isElement(node)) return
    this.#breakAround(node)
    if (CELLS.has(node.nodeName)) this.#gap = '\t'
    if (node.nodeName === 'LI') this.#mark = ''
    if (node.nodeName === 'PRE') this.#preformatted--
  }

  #breakAround({ nodeName }: PageNode): void {
    const breaks = PARAGRAPHS.has(nodeName) ? 2 : LINES.has(nodeName) ? 1 : 0
    // Blocks inside an item or a cell begin a line, but not a paragraph of their own.
    this.#breaks = Math.max(this.#breaks, this.#mark === '' ? breaks : 0)
  }

  #write(text: string): void {
    if (this.#preformatted > 0) this.#push(text)
    else this.#pushWords(text)
  }

  #pushWords(text: string): void {
    const words = text.trim().replace(/\s+/g, ' ')
    if (words === '' || /^\s/.test(text)) this.#gap ||= text === '' ? '' : ' '
    if (words === '') return
    this.#push(words)
    if (/\s$/.test(text)) this.#gap = ' '
  }

  #push(text: string): void {
    const before = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#gap
    this.#parts.push(before, this.#mark, text)
    this.#breaks = 0
    this.#gap = ''
    this.#mark = ''
  }
}
