import type { Rule } from 'turndown'
import type { PageElement } from './dom.ts'

/** Tables whose cells are words become Markdown tables; those that only lay out a page become paragraphs. */
export function tableRules(): Readonly<Record<string, Rule>> {
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

const CELLS = new Set(['TD', 'TH'])

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
