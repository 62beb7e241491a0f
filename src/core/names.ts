import { ToolError } from './errors.ts'

/** Canonical names: `core/fs.readText`, `notes.save`, `exec`. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*$/
const MAX_TOOL_NAME_LENGTH = 64

/** Refuses a name that could not be mapped to a wire name and back. */
export function assertToolName(name: unknown): asserts name is string {
  if (typeof name === 'string' && name.length <= MAX_TOOL_NAME_LENGTH && TOOL_NAME.test(name)) return
  throw new ToolError('CONFIG_INVALID', `${JSON.stringify(name)} is not a tool name.`, {
    hint: `Use letters, digits, _ and - in parts joined by / or ., at most ${MAX_TOOL_NAME_LENGTH} characters: notes.save, core/fs.readText.`,
  })
}

/** Names of MCP servers: part of every name of their tools, so they are short and plain. */
export const SERVER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/

/** A run id names a folder, so it is one on every system: no separators, no dot first. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Whether something names a run. */
export function isRunId(id: unknown): id is string {
  return typeof id === 'string' && RUN_ID.test(id)
}

/** Refuses what cannot name a run. */
export function assertRunId(id: unknown): asserts id is string {
  if (isRunId(id)) return
  const shown = typeof id === 'string' ? JSON.stringify(id.slice(0, 100)) : `Something of type ${typeof id}`
  throw new ToolError('CONFIG_INVALID', `${shown} is not a run id.`, {
    fix: { key: 'run', hint: 'Use letters, digits, ., _ and -, beginning with a letter or digit, at most 64.' },
  })
}

/** The form model providers accept, `[a-zA-Z0-9_-]{1,64}`. A hub refuses two tools with one wire name. */
export function toWireName(name: string): string {
  return name.replaceAll(/[./]/g, '_')
}

/**
 * The group of a tool: `notes.save` is in `group:notes`, `core/fs.readText` in `group:files`. `group:fs` is the name of
 * a fixed list of four tools, so no area has it.
 */
export function groupOf(name: string): string {
  const last = name.slice(name.lastIndexOf('/') + 1)
  const dot = last.indexOf('.')
  const area = dot === -1 ? last : last.slice(0, dot)
  return area.toLowerCase() === 'fs' ? 'files' : area
}

/** The names nearest to a mistyped one, best first; empty when nothing is near. */
export function nearestNames(wanted: string, names: Iterable<string>, most = 3): string[] {
  const target = wanted.slice(0, 128).toLowerCase()
  const scored: { name: string; distance: number }[] = []
  for (const name of names) {
    const distance = likeness(target, name.toLowerCase())
    if (distance <= Math.max(2, Math.ceil(target.length / 3))) scored.push({ name, distance })
  }
  scored.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
  return scored.slice(0, most).map(({ name }) => name)
}

/** "did you mean …?", or nothing. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const [best, ...others] = nearestNames(wanted, names)
  if (best === undefined) return ''
  return others.length === 0 ? `Did you mean ${best}?` : `Did you mean ${best} (or ${others.join(', ')})?`
}

/** Edit distance, where a last part that fits (`readText` for `core/fs.readText`) counts as near. */
function likeness(wanted: string, name: string): number {
  const whole = editDistance(wanted, name)
  const lastPart = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1)
  return Math.min(whole, editDistance(wanted, lastPart) + 1)
}

/** How many letters to change, add, drop or swap with their neighbour. */
function editDistance(a: string, b: string): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swap = isSwap ? before[j - 2]! + 1 : Number.POSITIVE_INFINITY
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, change, swap))
    }
    before = row
    row = next
  }
  return row[b.length]!
}
