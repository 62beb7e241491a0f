import { compilePolicyGlob, escapeGlob, literalOf } from './glob.ts'
import { compileCommandPattern } from './match-command.ts'
import { compileUrlPattern, parseTargetUrl, urlAsPattern } from './match-url.ts'
import {
  ANY_KEY,
  type BrokenPattern,
  MAX_KEY_DEPTH,
  type Pattern,
  type PatternPlace,
  type PlainKind,
  type PolicyTarget,
  type TargetKind,
} from './target.ts'

const FEW_KEYS = 32

/** Reads what a call will touch. */
export function readTarget(kind: PlainKind, value: string): PolicyTarget {
  switch (kind) {
    case 'path':
      return readPath(value)
    case 'url':
      return parseTargetUrl(value)
    default:
      return { kind: 'text', value, keys: [...new Set([ANY_KEY, value, firstSegment(value)])] }
  }
}

/** Compiles a pattern of `on` or `except` for one kind of target. */
export function compilePattern(kind: TargetKind, text: string, place: PatternPlace): Pattern | BrokenPattern {
  switch (kind) {
    case 'path':
      return compilePathPattern(text, place)
    case 'url':
      return compileUrlPattern(text)
    case 'command':
      return compileCommandPattern(text)
    default:
      return compileTextPattern(text)
  }
}

/** A pattern that matches exactly this target; `undefined` if there is none. */
export function targetAsPattern(kind: PlainKind, value: string): string | undefined {
  if (kind === 'url') return urlAsPattern(value)
  return value === '' ? undefined : escapeGlob(value)
}

function compileTextPattern(text: string): Pattern | BrokenPattern {
  if (text === '') return { broken: 'a pattern needs a text' }
  const literal = literalOf(text)
  if (literal !== undefined) return { key: literal, matches: ({ value }) => value === literal }
  const expression = compilePolicyGlob(text)
  if ('broken' in expression) return expression
  return { key: textKey(text), matches: ({ value }) => value === text || expression.test(value) }
}

/** A glob whose first segment is plain matches only below it; one that begins in any other way may match anything. */
function textKey(glob: string): string {
  const segment = firstSegment(glob)
  const isPlain = segment !== glob && segment !== '' && segment !== '.' && !segment.includes('\\')
  return isPlain && literalOf(segment) !== undefined ? segment : ANY_KEY
}

function firstSegment(text: string): string {
  const slash = text.indexOf('/')
  return slash === -1 ? text : text.slice(0, slash)
}

/**
 * Reads a path pattern: `./x/**` and `x/**` from the rule's base, `~/x` from home, `/x` absolute, a leading `**` anywhere.
 * A pattern whose last part is a plain name covers the folder of that name and all below it.
 */
export function compilePathPattern(text: string, place: PatternPlace): Pattern | BrokenPattern {
  if (text === '' || text.includes('\0')) return { broken: 'a path pattern needs a text without NUL' }
  const segments = toSegments(text, place)
  if ('broken' in segments) return segments
  const last = segments.at(-1)
  const isFolder = last === undefined || literalOf(last) !== undefined
  const expression = compilePolicyGlob([...segments, ...(isFolder ? ['**'] : [])].join('/'))
  if ('broken' in expression) return expression
  // picomatch reads a leading `**/` as optional only without the slash of the root before it.
  return { key: keyOf(segments), matches: (target) => expression.test(target.value.slice(1)) }
}

/** Reads an absolute real path. */
export function readPath(path: string): PolicyTarget {
  const value = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const keys = [ANY_KEY]
  let start = 1
  for (let depth = 1; start <= value.length; depth++) {
    const slash = value.indexOf('/', start)
    const end = slash === -1 ? value.length : slash
    if (depth <= MAX_KEY_DEPTH) keys.push(value.slice(0, end))
    keys.push(value.slice(start, end))
    start = end + 1
  }
  const dot = value.lastIndexOf('.')
  if (dot !== -1) keys.push(`*${value.slice(dot)}`)
  // A key that comes again has its patterns compared again: cheaper than a set for most paths, not for a hostile one.
  return { kind: 'path', value, keys: keys.length > FEW_KEYS ? [...new Set(keys)] : keys }
}

function toSegments(text: string, { base, home }: PatternPlace): string[] | BrokenPattern {
  if (!text.startsWith('~')) return joinSegments(/^(?:\/|\*\*(?:\/|$))/.test(text) ? '' : base, text)
  if (text !== '~' && !text.startsWith('~/')) return { broken: '~user is not supported, write the folder' }
  if (home === undefined) return { broken: '~ cannot be resolved, the home folder is not known here' }
  return joinSegments(home, text.slice(1))
}

function joinSegments(folder: string, glob: string): string[] | BrokenPattern {
  const segments = folder.split('/').filter(Boolean).map(escapeGlob)
  for (const segment of glob.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') {
      segments.push(segment)
      continue
    }
    const left = segments.pop()
    if (left === undefined || literalOf(left) === undefined)
      return { broken: '.. leaves a part that is not a plain folder' }
  }
  return segments
}

/** The literal folders it begins with; else a plain name it contains; else the ending of the file. */
function keyOf(segments: readonly string[]): string {
  const varies = segments.findIndex((segment) => literalOf(segment) === undefined)
  const leading = (varies === -1 ? segments : segments.slice(0, varies)).slice(0, MAX_KEY_DEPTH)
  if (leading.length > 0) return `/${leading.map(literalOf).join('/')}`
  // A brace or bracket may span slashes, then what looks like a plain part is only one choice of several.
  if (segments.some((segment) => /[[{]/.test(segment))) return ANY_KEY
  const name = segments.find((segment) => literalOf(segment) !== undefined)
  if (name !== undefined) return literalOf(name) ?? ANY_KEY
  const ending = /^\*(?:\.[^*?\\.]+)*(\.[^*?\\.]+)$/.exec(segments.at(-1) ?? '')
  return ending ? `*${ending[1]}` : ANY_KEY
}
