import { Readability } from '@mozilla/readability'
import type { ReadablePage } from '../../contracts/handles.ts'
import { cleanPage } from './clean-page.ts'
import { cleanLine, cleanText } from './clean-text.ts'
import type { PageDocument, PageElement } from './dom.ts'
import { limitDepth } from './limit-depth.ts'
import { parsePage } from './parse-page.ts'
import { toMarkdown } from './to-markdown.ts'
import { toPlainText } from './to-plain-text.ts'

/** A page to read: `url` is where it came from. */
export interface PageJob {
  readonly html: string
  readonly url: string
  readonly as: 'markdown' | 'text'
}

/** What the worker answers. */
export type PageReply = { readonly page: ReadablePage } | { readonly failure: string }

/** The longest text that is given back. */
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
