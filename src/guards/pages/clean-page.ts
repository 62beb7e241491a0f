import { cleanLine, cleanText } from './clean-text.ts'
import { isElement, type PageDocument, type PageElement, type PageNode, TEXT } from './dom.ts'
import { isHidden } from './is-hidden.ts'
import { nextNode } from './next-node.ts'

const MAX_ALT_CHARS = 500
const MAX_URL_CHARS = 2_000

/**
 * Takes out of a page what nobody sees (comments, hidden elements and characters) and what must not go on: scripts,
 * pictures but for their description, links that are no web addresses. Tells how many elements are left.
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

/** False for a node that goes, with all that is in it. */
function cleanNode(node: PageNode, base: string): boolean {
  if (node.nodeType === TEXT) {
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

/** The picture goes; its description stays as a text after it. */
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

/** A page may say what its links are relative to. */
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
