import { JSONPathEnvironment, JSONPathError } from 'json-p3'
import type { Meter } from '../meter.ts'
import { invalidPath } from './invalid-path.ts'
import { JsonPathEvaluator } from './jsonpath-evaluator.ts'

const environment = new JSONPathEnvironment()

/** The values of all nodes that a JSONPath (RFC 9535) selects. json-p3 reads the path; our evaluator keeps to the meter. */
export function selectByJsonPath(json: unknown, path: string, meter: Meter): unknown[] {
  return new JsonPathEvaluator(json, meter).run(parse(path))
}

function parse(path: string): ReturnType<typeof environment.compile> {
  try {
    return environment.compile(path)
  } catch (cause) {
    if (!(cause instanceof JSONPathError)) throw cause
    const problem = cause.message.replace(/ \('.*':-?\d+\)$/s, '.')
    throw invalidPath(problem, { index: Math.max(0, cause.token.index), cause })
  }
}
