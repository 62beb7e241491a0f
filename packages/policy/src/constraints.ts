import { assertPlace, type Constraints, describeWorkers, joinPlaces, PLACE_KEY } from '@tool-hub/core'

/** No bounds. */
export const NO_CONSTRAINTS: Constraints = Object.freeze({})

const BOUNDS = ['timeoutMs', 'maxBytes', 'maxFileBytes', 'maxResults', 'retries'] as const

/** The keys of a limit of a rule. */
export const LIMIT_KEYS: readonly string[] = [...BOUNDS, PLACE_KEY]

/** The numbers of a limit as it was written. Throws CONFIG_INVALID if it names no worker. */
export function boundsOf(limit: object, where: string): object {
  assertPlace(limit, where)
  const { [PLACE_KEY]: _, ...bounds } = limit as Record<string, unknown>
  return bounds
}

/** The strictest of both. */
export function mergeConstraints(a: Constraints, b: Constraints | undefined): Constraints {
  if (b === undefined || b === NO_CONSTRAINTS || b === a) return a
  if (a === NO_CONSTRAINTS) return b
  const merged: { -readonly [K in keyof Constraints]: Constraints[K] } = { ...a, ...joinPlaces(a, b) }
  for (const key of BOUNDS) {
    const bound = b[key]
    if (bound !== undefined) merged[key] = Math.min(bound, a[key] ?? bound)
  }
  return merged
}

/** What a rule limits, for people: `500 ms, executed on worker:gpu`. */
export function describeConstraints(constraints: Constraints): string {
  const { timeoutMs, maxBytes, maxFileBytes, maxResults } = constraints
  const bounds = []
  if (timeoutMs !== undefined) bounds.push(`${timeoutMs} ms`)
  if (maxBytes !== undefined) bounds.push(`${maxBytes} bytes`)
  if (maxFileBytes !== undefined) bounds.push(`files of ${maxFileBytes} bytes`)
  if (maxResults !== undefined) bounds.push(`${maxResults} results`)
  return [...bounds, ...describeWorkers(constraints)].join(', ')
}
