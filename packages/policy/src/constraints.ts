import { type Constraints, invalidPlace, labelsOfPlace, placeOfLabels } from '@tool-hub/core'

/** No bounds. */
export const NO_CONSTRAINTS: Constraints = Object.freeze({})

const BOUNDS = ['timeoutMs', 'maxBytes', 'maxFileBytes', 'maxResults', 'retries'] as const

/** The keys of a limit of a rule. */
export const LIMIT_KEYS: readonly string[] = [...BOUNDS, 'runOn']

/** The numbers of a limit as it was written. Throws CONFIG_INVALID if it names no worker. */
export function boundsOf(limit: object, where: string): object {
  const { runOn, ...bounds } = limit as Record<string, unknown>
  if (runOn !== undefined && !labelsOfPlace(runOn)) throw invalidPlace(`${where}, limit.runOn`, runOn)
  return bounds
}

/** The strictest of both. */
export function mergeConstraints(a: Constraints, b: Constraints | undefined): Constraints {
  if (b === undefined || b === NO_CONSTRAINTS || b === a) return a
  if (a === NO_CONSTRAINTS) return b
  const merged: { -readonly [K in keyof Constraints]: Constraints[K] } = { ...a }
  for (const key of BOUNDS) {
    const bound = b[key]
    if (bound !== undefined) merged[key] = Math.min(bound, a[key] ?? bound)
  }
  if (b.runOn !== undefined) merged.runOn = a.runOn === undefined ? b.runOn : bothPlaces(a.runOn, b.runOn)
  return merged
}

/** The workers that are in both places: those with the labels of both. */
function bothPlaces(a: string, b: string): string {
  return a === b ? a : placeOfLabels([...new Set([a, b].flatMap((place) => labelsOfPlace(place) ?? []))].sort())
}

/** What a rule limits, for people: `500 ms, executed on worker:gpu`. */
export function describeConstraints({ timeoutMs, maxBytes, maxFileBytes, maxResults, runOn }: Constraints): string {
  const bounds = []
  if (timeoutMs !== undefined) bounds.push(`${timeoutMs} ms`)
  if (maxBytes !== undefined) bounds.push(`${maxBytes} bytes`)
  if (maxFileBytes !== undefined) bounds.push(`files of ${maxFileBytes} bytes`)
  if (maxResults !== undefined) bounds.push(`${maxResults} results`)
  if (runOn !== undefined) bounds.push(`executed on ${runOn}`)
  return bounds.join(', ')
}
