import { compileGlob, escapeGlob, literalOf } from './glob.ts'
import { compileCommandPattern } from './match-command.ts'
import { compilePathPattern, readPath } from './match-path.ts'
import { compileUrlPattern, readUrl, urlAsPattern } from './match-url.ts'
import {
  ANY_KEY,
  type BrokenPattern,
  type Pattern,
  type PatternPlace,
  type PlainKind,
  type Target,
  type TargetKind,
} from './target.ts'

/** Reads what a call will touch. */
export function readTarget(kind: PlainKind, value: string): Target {
  switch (kind) {
    case 'path':
      return readPath(value)
    case 'url':
      return readUrl(value)
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

/** A pattern that matches this very target, for a fix to suggest; none when no rule can say it. */
export function targetAsPattern(kind: PlainKind, value: string): string | undefined {
  if (kind === 'url') return urlAsPattern(value)
  return value === '' ? undefined : escapeGlob(value)
}

function compileTextPattern(text: string): Pattern | BrokenPattern {
  if (text === '') return { broken: 'a pattern needs a text' }
  const literal = literalOf(text)
  if (literal !== undefined) return { key: literal, matches: ({ value }) => value === literal }
  const expression = compileGlob(text)
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
