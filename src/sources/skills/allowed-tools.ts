import type { Capability } from '../../core/define.ts'
import { escapeLine } from '../../lib/escape-text.ts'

const MAX_REQUESTS = 100
const MAX_CHARS = 100

/** How other programs call what tools of ours need. */
const FOREIGN: ReadonlyMap<string, Capability> = new Map([
  ...(['Bash', 'BashOutput', 'KillShell'] as const).map((name) => [name, 'exec'] as const),
  ...(['Read', 'Grep', 'Glob', 'LS', 'NotebookRead'] as const).map((name) => [name, 'read:fs'] as const),
  ...(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'] as const).map((name) => [name, 'write:fs'] as const),
  ...(['WebFetch', 'WebSearch'] as const).map((name) => [name, 'network'] as const),
])

/** What `allowed-tools` of a skill asks for: in our words where there are some, as it stands there otherwise. */
export function readAllowedTools(written: string | readonly string[]): {
  readonly wants: readonly string[]
  readonly asWritten: string
} {
  const wishes = (typeof written === 'string' ? splitWishes(written) : written)
    .map((wish) => shown(wish.trim()))
    .filter((wish) => wish !== '')
    .slice(0, MAX_REQUESTS)
  return { wants: [...new Set(wishes.map(inOurWords))], asWritten: wishes.join(' ') }
}

/** `Bash(git:*)` is one wish, whatever stands in its parentheses. */
function splitWishes(text: string): string[] {
  return text.match(/[^\s,()]+(?:\([^()]*\))?/g) ?? []
}

function inOurWords(wish: string): string {
  const name = wish.split('(', 1)[0]!
  const [prefix, server, tool] = name.split('__')
  if (prefix === 'mcp' && server && tool) return `mcp/${server}.${tool}`
  return FOREIGN.get(name) ?? wish
}

/** An approver reads it. */
function shown(text: string): string {
  return escapeLine(text).slice(0, MAX_CHARS)
}
