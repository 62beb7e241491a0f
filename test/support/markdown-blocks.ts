import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A code block of a page. */
export interface CodeBlock {
  readonly page: string
  /** Line number of the opening backticks. */
  readonly line: number
  readonly language: string
  /** The words after the language: a file name, `background`, `not run`, … */
  readonly label: string
  readonly text: string
}

/** Every Markdown page that users read: README.md and everything below docs/. */
export const PAGES: readonly string[] = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name))
    .sort(),
]

/** For contributors: `test/add-a-feature.test.ts` adds its files to a copy of the source, and compiles them there. */
export const FEATURE_GUIDE = join('docs', 'guides', 'add-a-feature.md')

/** The guides, each of which a test follows from start to finish. */
export const GUIDES: readonly string[] = PAGES.filter(
  (page) => page.startsWith(join('docs', 'guides')) && page !== FEATURE_GUIDE,
)

/** The code blocks of a page, in reading order. */
export function codeBlocks(page: string): CodeBlock[] {
  const blocks: CodeBlock[] = []
  let open: { readonly line: number; readonly info: string; readonly lines: string[] } | undefined
  for (const [index, text] of readFileSync(page, 'utf8').split('\n').entries()) {
    const opening = /^```(.*)$/.exec(text)
    if (!opening) {
      open?.lines.push(text)
      continue
    }
    if (!open) {
      open = { line: index + 1, info: opening[1]!.trim(), lines: [] }
      continue
    }
    const [language = '', ...label] = open.info.split(' ')
    blocks.push({ page, line: open.line, language, label: label.join(' '), text: `${open.lines.join('\n')}\n` })
    open = undefined
  }
  if (open) throw new Error(`${page}:${open.line} opens a code block that nothing closes`)
  return blocks
}

/** The commands of a `sh` block, with continued lines joined and comments removed. */
export function shellCommands({ text }: CodeBlock): { readonly command: string; readonly comment: string }[] {
  return text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => {
      const at = /(?:^|\s{2,})#\s.*$/.exec(line)
      return { command: line.slice(0, at?.index).trim(), comment: at?.[0].trim() ?? '' }
    })
    .filter(({ command }) => command !== '')
}
