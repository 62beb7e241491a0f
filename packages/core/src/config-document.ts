import { ToolError } from './errors.ts'
import { escapeLine } from './lib/index.ts'
import type { RuleSource } from './principal.ts'

/** Where something stands in a file; both count from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** The way to a value: `['policy', 2, 'on']`. */
export type KeyPath = readonly (string | number)[]

/** One thing that is wrong with a config file. */
export interface Problem {
  readonly path?: KeyPath
  readonly position?: Position | undefined
  readonly message: string
}

/** How many problems an error names; the others are counted. */
export const MAX_PROBLEMS = 10

/** The error of a config file: all its problems together, each with its place. */
export function configError(
  label: string,
  found: readonly Problem[],
  options: { hint?: string; cause?: unknown } = {},
): ToolError {
  const problems = found.toSorted(byPlace)
  const lines = problems.slice(0, MAX_PROBLEMS).map((problem) => describe(label, problem))
  const unshown = problems.length - lines.length
  if (unshown > 0) lines.push(`and ${unshown} more`)
  const text =
    lines.length === 1 ? lines[0]! : [`${escapeLine(label)} has ${problems.length} problems:`, ...lines].join('\n  ')
  const [first] = problems
  return new ToolError('CONFIG_INVALID', text, {
    fix: {
      ...(first?.path?.length ? { key: formatPath(first.path) } : {}),
      ...(options.hint === undefined ? {} : { hint: options.hint }),
    },
    details: { file: label, problems: problems.slice(0, MAX_PROBLEMS) },
    ...('cause' in options ? { cause: options.cause } : {}),
  })
}

/** In the order of the file; what has no place comes first, because it is about all of it. */
function byPlace({ position: a }: Problem, { position: b }: Problem): number {
  return (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0)
}

/** `policy[2].on`, as the owner would say it. */
export function formatPath(path: KeyPath): string {
  return path
    .map((part) =>
      typeof part === 'number' ? `[${part}]` : /^[\w/:*-]+$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`,
    )
    .join('')
    .replace(/^\./, '')
}

/** `tool-hub.yaml:4:3`, or `tool-hub.mjs#limits.timeout` where lines are not known. */
export function formatPlace(label: string, path: KeyPath, position: Position | undefined): string {
  if (position) return `${label}:${position.line}:${position.column}`
  return path.length === 0 ? label : `${label}#${formatPath(path)}`
}

/** The file may be somebody else's: it must neither drive a terminal nor fake a line. */
function describe(label: string, { path = [], position, message }: Problem): string {
  const key = path.length === 0 ? '' : ` ${formatPath(path)}:`
  return escapeLine(`${formatPlace(label, path, position)}${key} ${message}`)
}

/** Where a key or its value stands; nothing when the format does not tell. */
export type Locate = (path: KeyPath, part?: 'key' | 'value') => Position | undefined

/** A parsed file: its data, nothing checked yet, and how to find a place in it again. */
export interface ConfigDocument {
  /** Absolute. */
  readonly file: string
  /** How messages and rules name it: relative to the working folder when it is below. */
  readonly label: string
  readonly value: unknown
  readonly locate: Locate
}

/** The source that a rule at `path` carries for the rest of its life. */
export function sourceOf({ label, locate }: ConfigDocument, path: KeyPath): RuleSource {
  const position = locate(path)
  return position ? { file: label, line: position.line } : { file: formatPlace(label, path, undefined) }
}
