import Turndown from 'turndown'
import { tidyLines } from './clean-text.ts'
import type { PageElement } from './dom.ts'
import { tableRules } from './table-rules.ts'

/** An element of a cleaned page as Markdown. */
export function toMarkdown(root: PageElement): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---' })
  for (const [name, rule] of Object.entries(tableRules())) turndown.addRule(name, rule)
  return tidyLines(turndown.turndown(root as never))
}
