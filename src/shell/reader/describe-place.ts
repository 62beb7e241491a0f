import type { Redirection } from 'unbash'

const MAX_LENGTH = 160

const ORDINALS = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth']

/** "inside `$(…)` of the second argument": where a substitution stands, and in what. */
export function describeInside(text: string, of: string | undefined, outer: string | undefined): string {
  return describeWithin(`inside ${markOf(text)}${of === undefined ? '' : ` ${of}`}`, outer)
}

/** A place in a place; what is nested very deep is reported by its outer places. */
export function describeWithin(inner: string, outer: string | undefined): string {
  if (outer === undefined) return inner
  return outer.length > MAX_LENGTH ? outer : `${inner}, ${outer}`
}

/** "of the second argument". */
export function describeArgument(count: number): string {
  const ordinal = ORDINALS[count - 1]
  return ordinal === undefined ? `of argument ${count}` : `of the ${ordinal} argument`
}

/** "of the here-document". */
export function describeRedirection({ type }: Redirection): string {
  if (type === 'HereDoc') return 'of the here-document'
  return type === 'HereString' ? 'of the here-string' : 'of a redirection'
}

function markOf(text: string): string {
  if (text.startsWith('`')) return 'backticks'
  return `\`${text.slice(0, 2)}…${text.startsWith('${') ? '}' : ')'}\``
}
