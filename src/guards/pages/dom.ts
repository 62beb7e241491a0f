/** What is used of the DOM that linkedom builds; the project has no DOM types. */
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
export const ELEMENT = 1
export const TEXT = 3

/** True for an element. */
export function isElement(node: PageNode): node is PageElement {
  return node.nodeType === ELEMENT
}
