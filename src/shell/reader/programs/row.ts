import type { HazardRow } from './program-table.ts'

/** A row for an option that writes, runs or reaches more than the program's name says. */
export function reachRow(option: string, reason: string, example: string, when?: RegExp): HazardRow {
  return { option, kind: 'reach', reason, example, when }
}

/** A row for an option through which code runs that the words do not show. */
export function hiddenRow(option: string, reason: string, example: string, when?: RegExp): HazardRow {
  return { option, kind: 'hidden', reason, example, when }
}
