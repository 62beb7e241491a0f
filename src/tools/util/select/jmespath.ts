import { compile, tokenize } from '@jmespath-community/jmespath'
import type { Meter } from '../meter.ts'
import { invalidPath } from './invalid-path.ts'
import { JmesPathEvaluator, type JmesPathNode } from './jmespath-evaluator.ts'

/** The value that a JMESPath expression makes of `json`. The library reads it; our evaluator keeps to the meter. */
export function selectByJmesPath(json: unknown, path: string, meter: Meter): unknown {
  return new JmesPathEvaluator(json, meter).run(parse(path))
}

function parse(path: string): JmesPathNode {
  const source = standardQuotes(path)
  try {
    return compile(source)
  } catch (cause) {
    if (cause instanceof RangeError) throw cause
    const problem = (cause as Error).message.replace(/^syntax(?: error)?[:,] */i, '')
    throw invalidPath(`${problem}.`, { index: failingIndex(source), cause })
  }
}

const QUOTED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/gs

/**
 * The library unescapes a double backslash in a 'raw string', which the standard keeps, and only the first \` of a
 * `literal`, and it takes an open quote for closed. Writing them another way makes it read what the standard says.
 */
function standardQuotes(path: string): string {
  const open = path.replaceAll(QUOTED, (quoted) => ' '.repeat(quoted.length)).search(/["'`]/)
  if (open !== -1) throw invalidPath(`the ${path[open]} is never closed.`, { index: open })
  return path.replaceAll(QUOTED, (quoted) => {
    if (quoted.startsWith("'")) return quoted.replaceAll('\\\\', '\\\\\\\\')
    if (quoted.startsWith('`')) return `\`${quoted.slice(1, -1).replaceAll('\\`', '\\u0060')}\``
    return quoted
  })
}

/**
 * Where the parser gave up, which the library does not say: the first token that no longer fits. Up to it the text is
 * a beginning (the parser misses its end), from it on an error, so halving finds it in a dozen tries.
 */
function failingIndex(source: string): number | undefined {
  const starts = tokenStarts(source)
  if (!starts) return undefined
  let fitting = 0
  let failing = starts.length
  while (fitting < failing) {
    const middle = (fitting + failing) >> 1
    if (isBeginning(source.slice(0, starts[middle + 1] ?? source.length))) fitting = middle + 1
    else failing = middle
  }
  return starts[fitting] ?? source.length
}

function tokenStarts(source: string): number[] | undefined {
  try {
    return tokenize(source).map(({ start }) => start)
  } catch {
    return undefined // not even tokens: the message names the character
  }
}

function isBeginning(source: string): boolean {
  try {
    compile(source)
    return true
  } catch (error) {
    return (error as Error).message.includes('EOF')
  }
}
