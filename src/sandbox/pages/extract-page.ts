import { Readability } from '@mozilla/readability'
import { parseHTML } from 'linkedom'
import type { Rule } from 'turndown'
import Turndown from 'turndown'
import type { ReadablePage } from '../../core/index.ts'
import {
  cleanLine,
  cleanPage,
  cleanText,
  type PageDocument,
  type PageElement,
  type PageNode,
  tidyLines,
} from './clean-page.ts'

import { limitDepth } from './limit-depth.ts'
import { toPlainText } from './to-plain-text.ts'

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

/** What the worker answers. */
export type PageReply = { readonly page: ReadablePage } | { readonly failure: string }

/** The longest text that is returned. */
const MAX_TEXT_CHARS = 2_000_000
const MAX_TITLE_CHARS = 500

/** Of a page with more elements only the plain text is given: finding its article takes longer than anybody waits. */
const MAX_ARTICLE_ELEMENTS = 50_000

/** An article shorter than this is taken only when the page has no more to say. */
const SHORT_ARTICLE_CHARS = 250

/** What a person would read of a page. Hostile pages take long and much memory: call it in a worker only. */
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
    // It gives up on some broken trees; the text of the body is there all the same.
    return undefined
  }
}

function textOf(job: PageJob, article: PageElement | null | undefined, body: string): string {
  if (job.as === 'text') return article ? toPlainText(article) : body
  try {
    // Looking for an article takes the page apart, so without one it is opened again.
    return toMarkdown(article ?? openPage(job).document.body)
  } catch {
    // Markdown is made by recursion, which the strangest trees break; their text is better than nothing.
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
 * Parses a page of any quality into html, head and body. The parser takes a page as it is written, and many leave
 * out what browsers add.
 */
function parsePage(html: string): PageDocument {
  const document = parseHTML(html).document as unknown as PageDocument
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

/** Tables whose cells are words become Markdown tables; those that only lay out a page become paragraphs. */
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

/** Two columns or more, and nothing in a cell that needs lines of its own. */
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
