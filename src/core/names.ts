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

const MAX_WANTED_LENGTH = 128
/** Rows of `editDistance`: a name that is compared is at most a third longer than what is wanted. */
const rows = [new Uint8Array(192), new Uint8Array(192), new Uint8Array(192)] as const
/** More than any distance. */
const FAR = 200

/** The names nearest to a mistyped one, best first; empty when nothing is near. */
export function nearestNames(wanted: string, names: Iterable<string>, most = 3): string[] {
  const target = wanted.slice(0, MAX_WANTED_LENGTH).toLowerCase()
  const nearest: NearName[] = []
  let limit = Math.max(2, Math.ceil(target.length / 3))
  for (const name of names) {
    const distance = likeness(target, name.toLowerCase(), limit)
    if (distance > limit) continue
    let place = nearest.length
    while (place > 0 && isNearer({ name, distance }, nearest[place - 1]!)) place--
    nearest.splice(place, 0, { name, distance })
    // From now on only a name that is as near as the last of them matters.
    if (nearest.length > most) nearest.pop()
    if (nearest.length === most) limit = nearest.at(-1)?.distance ?? limit
  }
  return nearest.map(({ name }) => name)
}

interface NearName {
  readonly name: string
  readonly distance: number
}

function isNearer(one: NearName, other: NearName): boolean {
  return one.distance < other.distance || (one.distance === other.distance && one.name < other.name)
}

/** "did you mean …?", or nothing. */
export function didYouMean(wanted: string, names: Iterable<string>): string {
  const [best, ...others] = nearestNames(wanted, names)
  if (best === undefined) return ''
  return others.length === 0 ? `Did you mean ${best}?` : `Did you mean ${best} (or ${others.join(', ')})?`
}

/** Edit distance, where a last part that fits (`readText` for `core/fs.readText`) counts as near. Over `limit` it may be less than it is. */
function likeness(wanted: string, name: string, limit: number): number {
  const whole = editDistance(wanted, name, limit)
  const last = Math.max(name.lastIndexOf('/'), name.lastIndexOf('.')) + 1
  return last === 0 ? whole : Math.min(whole, editDistance(wanted, name.slice(last), limit - 1) + 1)
}

/**
 * How many letters to change, add, drop or swap with their neighbour; `FAR` if more than `limit`. An unknown name is
 * compared with all known ones, so only what can still be within the limit is looked at.
 */
function editDistance(a: string, b: string, limit: number): number {
  let start = 0
  let endA = a.length
  let endB = b.length
  if (Math.abs(endA - endB) > limit) return FAR
  while (start < endA && start < endB && a.charCodeAt(start) === b.charCodeAt(start)) start++
  while (endA > start && endB > start && a.charCodeAt(endA - 1) === b.charCodeAt(endB - 1)) {
    endA--
    endB--
  }
  if (endA === start || endB === start) return Math.max(endA, endB) - start
  const ownA = a.slice(start, endA)
  const ownB = b.slice(start, endB)
  return tooManyLetters(ownA, ownB, limit) ? FAR : distanceBetween(ownA, ownB, limit)
}

/** Row by row through the table of all beginnings, no further from its diagonal than the limit. */
function distanceBetween(a: string, b: string, limit: number): number {
  let [before, row, next] = rows
  for (let j = 0; j <= b.length; j++) row[j] = j
  let leastBefore = 0
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1)
    const from = Math.max(1, i - limit)
    const to = Math.min(b.length, i + limit)
    let left = from === 1 ? i : FAR
    let least = left
    next[from - 1] = left
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1)
      let distance = row[j - 1]!
      if (letter !== other) {
        distance = Math.min(distance, row[j]!, left) + 1
        const isSwap = i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other
        if (isSwap) distance = Math.min(distance, before[j - 2]! + 1)
      }
      next[j] = distance
      left = distance
      if (distance < least) least = distance
    }
    next[to + 1] = FAR
    // A swap skips a row.
    if (least > limit && leastBefore >= limit) return FAR
    leastBefore = least
    const spare = before
    before = row
    row = next
    next = spare
  }
  return row[b.length]!
}

/** Whether one of two texts has more letters that the other does not have than may be changed. */
function tooManyLetters(a: string, b: string, limit: number): boolean {
  const inA = letters(a)
  const inB = letters(b)
  return countBits(inA & ~inB) > limit || countBits(inB & ~inA) > limit
}

/** One bit for each letter; some share one. */
function letters(text: string): number {
  let bits = 0
  for (let index = 0; index < text.length; index++) bits |= 1 << (text.charCodeAt(index) & 31)
  return bits
}

function countBits(bits: number): number {
  let count = 0
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++
  return count
}
