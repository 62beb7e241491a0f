import { Readability } from '@mozilla/readability'
import type { ReadablePage } from '@tool-hub/core'
import { parseHTML } from 'linkedom'
import type { Rule } from 'turndown'
import Turndown from 'turndown'
import {
  cleanLine,
  cleanPage,
  cleanText,
  isElement,
  type PageDocument,
  type PageElement,
  type PageNode,
  TEXT_NODE,
  tidyLines,
} from './clean-page.ts'
import { limitDepth } from './limit-depth.ts'

const CELLS = new Set(['TD', 'TH'])

const DOCTYPE = 10

const WRAPPERS = new Set(['HTML', 'HEAD', 'BODY'])

const HEAD_ONLY = new Set(['TITLE', 'META', 'LINK', 'BASE'])

/** A page to read: `url` is where it came from. */
export interface PageJob {
  readonly html: string
  readonly url: string
  readonly as: 'markdown' | 'text'
}

/** The reply of the worker. */
export type PageReply = { readonly page: ReadablePage } | { readonly failure: string }

/** The longest text that is returned. */
const MAX_TEXT_CHARS = 2_000_000
const MAX_TITLE_CHARS = 500

/** A page with more elements is returned as plain text: finding its article would take too long. */
const MAX_ARTICLE_ELEMENTS = 50_000

/** A shorter article is used only if the page has little other text. */
const SHORT_ARTICLE_CHARS = 250

/** What a person would read of a page. Hostile pages take much time and memory: call it in a worker only. */
export function extractPage(job: PageJob): ReadablePage {
  const { document, elements } = openPage(job)
  const body = toPlainText(document.body)
  const facts = { title: document.title, language: document.documentElement.getAttribute('lang') }
  if (elements > MAX_ARTICLE_ELEMENTS)
    return { ...named('title', facts.title), ...named('language', facts.language), text: cut(body) }
  const article = findArticle(document, body.length)
  return {
    ...named('title', article?.title || facts.title),
    ...named('byline', article?.byline),
    ...named('language', article?.lang || facts.language),
    text: cut(textOf(job, article?.content, body)),
  }
}

function openPage({ html, url }: PageJob): { document: PageDocument; elements: number } {
  const source = limitDepth(html)
  if (source === undefined) throw new Error('its elements are nested too deep')
  const document = parsePage(source)
  return { document, ...cleanPage(document, url) }
}

/** The article, unless there is none, or too little of the page is in it. */
function findArticle(document: PageDocument, bodyChars: number) {
  try {
    const options = { keepClasses: true, serializer: (node: unknown) => node as PageElement }
    const article = new Readability(document as never, options).parse()
    const chars = article?.textContent?.trim().length ?? 0
    return chars >= Math.min(SHORT_ARTICLE_CHARS, bodyChars) ? article : undefined
  } catch {
    // It fails on some broken trees; the text of the body is still available.
    return undefined
  }
}

function textOf(job: PageJob, article: PageElement | null | undefined, body: string): string {
  if (job.as === 'text') return article ? toPlainText(article) : body
  try {
    // The search for an article changes the page, so the page is parsed again if there is none.
    return toMarkdown(article ?? openPage(job).document.body)
  } catch {
    // The conversion to Markdown is recursive, which fails on some trees; their text is better than nothing.
    return body
  }
}

function named<K extends string>(name: K, value: string | null | undefined): { [key in K]?: string } {
  const line = cleanLine(value ?? '').slice(0, MAX_TITLE_CHARS)
  return (line === '' ? {} : { [name]: line }) as { [key in K]?: string }
}

function cut(text: string): string {
  return text.length <= MAX_TEXT_CHARS ? text : cleanText(text.slice(0, MAX_TEXT_CHARS))
}

/** An element of a cleaned page as Markdown. */
function toMarkdown(root: PageElement): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' })
  for (const [name, rule] of Object.entries(tableRules())) turndown.addRule(name, rule)
  return tidyLines(turndown.turndown(root as never))
}

/**
 * Parses a page of any quality into html, head and body. The parser does not add what is missing, as browsers do.
 */
function parsePage(html: string): PageDocument {
  const document = parseHTML(html).document as PageDocument
  const root = document.createElement('html')
  const head = document.createElement('head')
  const body = document.createElement('body')
  const place = (node: PageNode): void => {
    if (!WRAPPERS.has(node.nodeName)) {
      const parent = HEAD_ONLY.has(node.nodeName) ? head : body
      parent.append(node)
      return
    }
    if (node.nodeName === 'HTML') copyLanguage(node as PageElement, root)
    for (const child of [...node.childNodes]) place(child)
    node.remove()
    if (node.nodeName === 'BODY') body.append(' ')
  }
  for (const node of [...document.childNodes]) if (node.nodeType !== DOCTYPE) place(node)
  root.append(head, body)
  document.append(root)
  return document
}

function copyLanguage(from: PageElement, to: PageElement): void {
  const language = from.getAttribute('lang')
  if (language) to.setAttribute('lang', language)
}

/** Tables of text become Markdown tables; tables that only lay out a page become paragraphs. */
function tableRules(): Readonly<Record<string, Rule>> {
  const known = new WeakMap<object, boolean>()
  const isData = (node: unknown): boolean => {
    const table = (node as PageElement).closest('table')
    if (!table) return false
    const answer = known.get(table) ?? isDataTable(table)
    known.set(table, answer)
    return answer
  }
  return {
    cell: {
      filter: (node: unknown) => CELLS.has((node as PageElement).nodeName) && isData(node),
      replacement: (content) =>
        ` ${content
          .trim()
          .replace(/\s*\n\s*/g, ' ')
          .replace(/(?<!\\)\|/g, '\\|')} |`,
    },
    row: {
      filter: (node: unknown) => (node as PageElement).nodeName === 'TR' && isData(node),
      replacement: (content, node: unknown) =>
        `\n|${content}${isFirst(node as PageElement) ? underline(node as PageElement) : ''}`,
    },
    table: {
      filter: (node: unknown) => (node as PageElement).nodeName === 'TABLE' && isData(node),
      replacement: (content) => `\n\n${content.replace(/\n\s*\n/g, '\n').trim()}\n\n`,
    },
  }
}

/** Whether a table has two columns or more, and no cell with content that needs lines of its own. */
function isDataTable(table: PageElement): boolean {
  if (table.querySelector('table, ul, ol, pre, blockquote, h1, h2, h3, h4, h5, h6')) return false
  const row = table.querySelector('tr')
  return row !== null && cellsOf(row) > 1
}

function isFirst(row: PageElement): boolean {
  return row.closest('table')?.querySelector('tr') === row
}

function underline(row: PageElement): string {
  return `\n|${' --- |'.repeat(cellsOf(row))}`
}

function cellsOf(row: PageElement): number {
  return [...row.childNodes].filter((child) => CELLS.has(child.nodeName)).length
}

const PARAGRAPHS = new Set(
  (
    'ADDRESS ARTICLE ASIDE BLOCKQUOTE BODY CENTER DETAILS DIV DL FIELDSET FIGCAPTION FIGURE FOOTER FORM H1 H2 H3 H4 H5 ' +
    'H6 HEADER HR MAIN NAV OL P PRE SECTION SUMMARY TABLE UL'
  ).split(' '),
)
const LINES = new Set(['BR', 'CAPTION', 'DD', 'DT', 'LI', 'TR'])

/**
 * The text of an element as a person reads it: separate paragraphs, a line for each list item, cells side by side.
 * Without recursion, so it works for any tree.
 */
function toPlainText(root: PageElement): string {
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
  /** What precedes the next text, if there is any: line breaks, the blank between words, the mark of an item. */
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
    // Blocks inside an item or a cell begin a line, but not a new paragraph.
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
