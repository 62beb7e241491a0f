import { ToolError } from './errors.ts'

/** A label of a worker. */
const LABEL = /^[a-z0-9][a-z0-9-]{0,31}$/
const MAX_LABELS = 8

/** What a place that a tool or a rule names looks like, for errors and editors. */
export const PLACE_PATTERN = '^worker(:[a-z0-9][a-z0-9-]{0,31}(,[a-z0-9][a-z0-9-]{0,31}){0,7})?$'

/**
 * Returns the labels that a worker must have for a place such as `worker:gpu` or `worker:gpu,eu`, sorted; none for `worker`,
 * which any worker is. Returns `undefined` if the text names no place.
 */
export function labelsOfPlace(place: unknown): readonly string[] | undefined {
  if (place === 'worker') return []
  if (typeof place !== 'string' || !place.startsWith('worker:')) return undefined
  return sortedLabels(place.slice('worker:'.length).split(','))
}

/** Returns the place of workers with these labels: the opposite of `labelsOfPlace`. */
export function placeOfLabels(labels: readonly string[]): string {
  return labels.length === 0 ? 'worker' : `worker:${labels.join(',')}`
}

/** The key of a constraint by which a rule names workers. */
export const PLACE_KEY = 'runOn'

/** The constraint by which a rule names workers. */
export interface PlaceConstraint {
  /**
   * Which workers execute such a call, e.g. `worker:gpu`: those with all of its labels, and of those of `where` of the tool.
   * Default: this process does, unless the tool names workers itself.
   */
  readonly runOn?: string
}

/** Throws CONFIG_INVALID if a limit as it was written names no workers by its key for them. */
export function assertPlace({ runOn }: { readonly runOn?: unknown }, where: string): void {
  if (runOn !== undefined && !labelsOfPlace(runOn)) throw invalidPlace(`${where}, limit.runOn`, runOn)
}

/** The workers that are in both places: those with the labels of both. */
export function joinPlaces({ runOn: a }: PlaceConstraint, { runOn: b }: PlaceConstraint): PlaceConstraint {
  const labels = () => [...new Set([a, b].flatMap((place) => labelsOfPlace(place) ?? []))].sort()
  const runOn = a === undefined || b === undefined || a === b ? (a ?? b) : placeOfLabels(labels())
  return runOn === undefined ? {} : { runOn }
}

/** Who executes the calls, for people: `executed on worker:gpu`; nothing if the rule names no workers. */
export function describeWorkers({ runOn }: PlaceConstraint): readonly string[] {
  return runOn === undefined ? [] : [`executed on ${runOn}`]
}

/** The labels of the workers that the rule and the tool of a call name; `undefined` for no worker. */
export function labelsOfCall(
  { runOn }: PlaceConstraint,
  where: readonly string[] | undefined,
): readonly string[] | undefined {
  if (runOn === undefined) return where
  return [...new Set([...(labelsOfPlace(runOn) ?? []), ...(where ?? [])])].sort()
}

/** Who names the workers of a call, for hints. */
export const PLACE_KEYS = '`where` of the tool, or limit.runOn of the rule'

/** Returns the labels sorted and without duplicates; `undefined` if one of them is invalid or there are too many. */
export function sortedLabels(labels: readonly string[]): readonly string[] | undefined {
  const sorted = [...new Set(labels)].sort()
  return sorted.length <= MAX_LABELS && sorted.every((label) => LABEL.test(label)) ? sorted : undefined
}

/** Creates the error for a place that cannot be read; `where` says who names it. */
export function invalidPlace(where: string, place: unknown): ToolError {
  return new ToolError('CONFIG_INVALID', `${where} = ${JSON.stringify(place) ?? String(place)} names no worker.`, {
    hint: 'Write worker, worker:gpu or worker:gpu,eu: at most 8 labels of lower-case letters, digits and -.',
  })
}
