import type { PolicyTestReport } from '../../api/types.ts'

/** A replacement in a text, and the selection afterwards. */
export interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly select: readonly [start: number, end: number]
}

const STEP = '  '

/** Indents or outdents the selected lines; without a selection, indenting inserts at the cursor. */
export function indentLines(text: string, start: number, end: number, direction: 'in' | 'out'): TextEdit {
  if (direction === 'in' && start === end) {
    const after = start + STEP.length
    return { from: start, to: end, text: STEP, select: [after, after] }
  }
  const from = text.lastIndexOf('\n', start - 1) + 1
  // A selection that ends at the start of a line does not include that line.
  const last = end > start && text[end - 1] === '\n' ? end - 1 : end
  const newline = text.indexOf('\n', last)
  const to = newline === -1 ? text.length : newline
  const lines = text.slice(from, to).split('\n')
  const moved = lines.map((line) => (direction === 'in' ? `${STEP}${line}` : line.replace(/^ {1,2}/, '')))
  const joined = moved.join('\n')
  const firstBy = (moved[0]?.length ?? 0) - (lines[0]?.length ?? 0)
  return {
    from,
    to,
    text: joined,
    select: [Math.max(from, start + firstBy), Math.max(from, end + joined.length - (to - from))],
  }
}

/** A new line with the indentation of the line before it. */
export function newLineIndent(text: string, at: number): TextEdit {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  const added = `\n${/^ */.exec(line)?.[0] ?? ''}`
  return { from: at, to: at, text: added, select: [at + added.length, at + added.length] }
}

/** The start and end of a line, counted from 1. */
export function rangeOfLine(text: string, line: number): [start: number, end: number] {
  const lines = text.split('\n')
  const index = Math.max(0, Math.min(lines.length, line) - 1)
  const start = lines.slice(0, index).reduce((sum, each) => sum + each.length + 1, 0)
  return [start, start + (lines[index]?.length ?? 0)]
}

const POLICY_MAPPING =
  /^(policy:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n| +shadow:.*\n)*( +)rules:)[ \t]*(?:\[[ \t]*\][ \t]*)?(#.*)?$/m
const SHADOW_ALONE = /^policy:[ \t]*(?:#.*)?\n(?:[ \t]*(?:#.*)?\n)*( +)shadow:.*$/

/**
 * Adds rules, each in one line, at the end of a `policy:` section or a list of rules; below `rules:` where the section is
 * a mapping, because their order means nothing.
 */
export function appendRules(yaml: string, rules: readonly string[]): string {
  const text = yaml.trimEnd()
  const mapping = POLICY_MAPPING.exec(text)
  if (mapping) {
    const [above, key, indent, comment] = mapping
    const head = comment === undefined ? key : `${key} ${comment}`
    const rest = text.slice(mapping.index + above.length)
    const listIndent = /^( +)- /m.exec(rest)?.[1] ?? `${indent}${STEP}`
    const added = rules.map((rule) => `\n${listIndent}- ${rule}`).join('')
    return `${text.slice(0, mapping.index)}${head}${added}${rest}\n`
  }
  const alone = SHADOW_ALONE.exec(text)?.[1]
  if (alone !== undefined)
    return `${[text, `${alone}rules:`, ...rules.map((rule) => `${alone}${STEP}- ${rule}`)].join('\n')}\n`
  const [, head = '', inner] = /^((?:policy:)?\s*)\[(.*)\]$/s.exec(text) ?? []
  if (inner?.trim()) {
    // A comment would go on to the end of its line.
    const before = inner.trimEnd().replace(/,$/, '') + (inner.includes('#') ? '\n ' : '')
    return `${head}[${[before, ...rules].join(', ')}]\n`
  }
  const indent = /^( *)- /m.exec(text)?.[1] ?? STEP
  const above = inner === undefined && text !== '' ? text : 'policy:'
  return `${[above, ...rules.map((rule) => `${indent}- ${rule}`)].join('\n')}\n`
}

type Change = Pick<PolicyTestReport['changed'][number], 'before' | 'after'>

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** Whether the decision becomes less strict. */
export function isLooser({ before, after }: Change): boolean {
  return STRICTNESS[after] < STRICTNESS[before]
}

/** Counts the changes of decisions: `2 ask → deny, 6 deny → allow`. */
export function countChanges(changes: readonly Change[]): string {
  const counts = new Map<string, number>()
  for (const { before, after } of changes) {
    const kind = `${before} → ${after}`
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts].map(([kind, count]) => `${count.toLocaleString('en')} ${kind}`).join(', ')
}

/** The first line of the rules that a message names, as in `rules:3:4 policy[1]: …`. */
export function findLine(message: string): number | undefined {
  const found = /\brules:(\d{1,6})\b/.exec(message)
  return found ? Number(found[1]) : undefined
}
