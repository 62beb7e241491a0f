import type { TextEdit } from './text-edits.ts'

/** A tool that rules can name, with its arguments. */
export interface KnownTool {
  readonly name: string
  readonly arguments: readonly string[]
}

/** A completion of what is being typed. */
export interface Completion {
  readonly label: string
  readonly edit: TextEdit
}

const MAX_COMPLETIONS = 8
const SUBJECT = /(?:^|[\s{,-])(?:allow|ask|deny):\s*["']?([^\s"',}]*)$/
const NAMED_SUBJECT = /(?:allow|ask|deny):\s*["']?([^\s"',}]+)/
const ARGUMENT = /[{,]\s*["']?([\w/-]*)$/
const BLOCK_ARGUMENT = /^\s+["']?([\w/-]*)$/

/** Returns what fits at the cursor: names of tools after a verb, names of arguments in `where`. */
export function completionsAt(text: string, at: number, tools: readonly KnownTool[]): readonly Completion[] {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const subject = SUBJECT.exec(line)?.[1]
  if (subject !== undefined) return complete(at, subject, namesOf(tools), '')
  const rule = ruleBefore(text, at)
  const where = rule.lastIndexOf('where:')
  if (where === -1) return []
  const given = rule.slice(where)
  const isFlow = given.includes('{')
  const typed = (isFlow ? ARGUMENT : BLOCK_ARGUMENT).exec(isFlow ? given : line)?.[1]
  if (typed === undefined || given.includes('}')) return []
  const tool = tools.find(({ name }) => name === NAMED_SUBJECT.exec(rule)?.[1])
  const isUnused = (name: string) => !new RegExp(`[\\s{,"']${name}["']?:`).test(given)
  return complete(at, typed, tool?.arguments.filter(isUnused) ?? [], ': ')
}

/** The text of the rule that is being typed, up to the cursor. */
function ruleBefore(text: string, at: number): string {
  const before = text.slice(0, at)
  const start = Math.max(before.lastIndexOf('\n- '), before.lastIndexOf('\n  - '), before.startsWith('- ') ? 0 : -1)
  return start === -1 ? '' : before.slice(start)
}

function namesOf(tools: readonly KnownTool[]): string[] {
  return tools.map(({ name }) => name)
}

function complete(at: number, typed: string, names: readonly string[], after: string): Completion[] {
  const wanted = typed.toLowerCase()
  const fits = names.filter((name) => name !== typed && name.toLowerCase().includes(wanted))
  const first = fits.filter((name) => name.toLowerCase().startsWith(wanted))
  const ordered = [...first, ...fits.filter((name) => !first.includes(name))]
  return ordered.slice(0, MAX_COMPLETIONS).map((label) => {
    const from = at - typed.length
    const text = `${label}${after}`
    return { label, edit: { from, to: at, text, select: [from + text.length, from + text.length] } }
  })
}
