import type { PageNode } from './dom.ts'

/** The next node of a tree in the order of its text; without recursion, since pages are nested as their authors like. */
export function nextNode(node: PageNode, root: PageNode, { skipChildren = false } = {}): PageNode | null {
  if (!skipChildren && node.firstChild) return node.firstChild
  for (let current: PageNode | null = node; current && current !== root; current = current.parentNode)
    if (current.nextSibling) return current.nextSibling
  return null
}
