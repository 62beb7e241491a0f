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
/** The letters of a text that fit into the bits of a number. */
const WORD_BITS = 32
/** Rows of `compareByRows`: a name that is compared is at most a third longer than what is wanted. */
const rows = [new Uint8Array(192), new Uint8Array(192), new Uint8Array(192)] as const
/** More than any distance. */
const FAR = 200

/** The names nearest to a mistyped one, best first; empty when nothing is near. */
export function nearestNames(wanted: string, names: Iterable<string>, most = 3): string[] {
  return findNearest(wanted, knownNames(names), most)
}

/** Finds the nearest names of many mistyped ones. */
export function nameFinder(names: Iterable<string>): (wanted: string) => string[] {
  const known = [...knownNames(names)]
  return (wanted) => findNearest(wanted, known, 3)
}

function* knownNames(names: Iterable<string>): Generator<KnownName> {
  for (const name of names) {
    const whole = name.toLowerCase()
    const last = Math.max(whole.lastIndexOf('/'), whole.lastIndexOf('.')) + 1
    yield { name, whole, last: last === 0 ? undefined : whole.slice(last) }
  }
}

function findNearest(wanted: string, names: Iterable<KnownName>, most: number): string[] {
  const target = wanted.slice(0, MAX_WANTED_LENGTH).toLowerCase()
  const distanceTo = distanceFrom(target)
  const nearest: NearName[] = []
  const mostLetters = Math.floor((target.length + 1) / 3)
  // A last part that fits (`readText` for `core/fs.readText`) counts as near, after a whole name that fits as well.
  let limit = mostLetters + 1
  for (const { name, whole, last } of names) {
    let distance = distanceTo(whole, Math.min(mostLetters, limit))
    if (last !== undefined) distance = Math.min(distance, distanceTo(last, Math.min(mostLetters, limit - 1)) + 1)
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

interface KnownName {
  readonly name: string
  /** In lower case, as is the last part. */
  readonly whole: string
  readonly last: string | undefined
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
  return suggestNames(nearestNames(wanted, names))
}

/** The same for names that were found already. */
export function suggestNames([best, ...others]: readonly string[]): string {
  if (best === undefined) return ''
  return others.length === 0 ? `Did you mean ${best}?` : `Did you mean ${best} (or ${others.join(', ')})?`
}

/**
 * Tells how many letters to change, add, drop or swap with their neighbour to get from one text to others; `FAR` if that
 * is more than `limit`. An unknown name is compared with all known ones, and a policy may have thousands of those.
 */
function distanceFrom(text: string): (other: string, limit: number) => number {
  const isShort = text.length > 0 && text.length <= WORD_BITS && /^[\x00-\x7f]*$/.test(text)
  const compare = isShort ? compareByBits(text) : (other: string, limit: number) => compareByRows(text, other, limit)
  return (other, limit) => {
    if (Math.abs(text.length - other.length) > limit) return FAR
    const distance = compare(other, limit)
    return distance > limit ? FAR : distance
  }
}

/** One column of the table of all beginnings in the bits of two numbers (Hyyrö, 2003): a letter of the other text takes a few steps. */
function compareByBits(text: string): (other: string, limit: number) => number {
  const places = new Int32Array(128)
  for (let index = 0; index < text.length; index++) places[text.charCodeAt(index)]! |= 1 << index
  const last = 1 << (text.length - 1)
  return (other, limit) => {
    let more = -1
    let less = 0
    let same = 0
    let before = 0
    let distance = text.length
    for (let index = 0; index < other.length; index++) {
      const here = places[other.charCodeAt(index)] ?? 0
      const swapped = ((~same & here) << 1) & before
      same = (((here & more) + more) ^ more) | here | less | swapped
      const up = less | ~(same | more)
      const down = same & more
      if ((up & last) !== 0) distance++
      else if ((down & last) !== 0) distance--
      // Each letter that follows brings the two nearer by one at most.
      if (distance - (other.length - index - 1) > limit) return FAR
      const shifted = (up << 1) | 1
      more = (down << 1) | ~(same | shifted)
      less = shifted & same
      before = here
    }
    return distance
  }
}

/** Row by row through that table, no further from its diagonal than the limit; for what has more letters than a number has bits. */
function compareByRows(a: string, b: string, limit: number): number {
  let [before, row, next] = rows
  for (let j = 0; j <= b.length; j++) row[j] = j
  let leastBefore = 0
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1)
    const from = Math.max(1, i - limit)
    const to = Math.min(b.length, i + limit)
    let distance = from === 1 ? i : FAR
    let least = distance
    next[from - 1] = distance
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1)
      distance = letter === other ? row[j - 1]! : Math.min(row[j - 1]!, row[j]!, distance) + 1
      const isSwap = i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other
      if (isSwap) distance = Math.min(distance, before[j - 2]! + 1)
      next[j] = distance
      if (distance < least) least = distance
    }
    next[to + 1] = FAR
    // A swap skips a row.
    if (least > limit && leastBefore >= limit) return FAR
    leastBefore = least
    ;[before, row, next] = [row, next, before]
  }
  return row[b.length]!
}
