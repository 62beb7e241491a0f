import { parseHTML } from 'linkedom'
import type { PageDocument, PageElement, PageNode } from './dom.ts'

const DOCTYPE = 10
const WRAPPERS = new Set(['HTML', 'HEAD', 'BODY'])
const HEAD_ONLY = new Set(['TITLE', 'META', 'LINK', 'BASE'])

/**
 * Parses a page of any quality into html, head and body. The parser takes a page as it is written, and many leave
 * out what browsers add.
 */
export function parsePage(html: string): PageDocument {
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
