import { createValue } from '../../lib/watched-value.ts'
import type { Verification } from './verification.ts'

/** The result of the last complete check of the records. */
export interface LastCheck {
  readonly at: number
  readonly runs: number
  readonly lines: number
  readonly broken: number
  readonly unproven: number
}

const KEY = 'tool-hub.lastCheck'
const FIELDS = ['at', 'runs', 'lines', 'broken', 'unproven'] as const

/** The last complete check in this browser. */
export const lastCheck = createValue<LastCheck | undefined>(read())

/** Stores the result of a check for the next visit. */
export function keepCheck(verification: Pick<Verification, 'runs'>, at: number): void {
  const check = summarise(verification, at)
  lastCheck.set(check)
  try {
    localStorage.setItem(KEY, JSON.stringify(check))
  } catch {
    // This browser stores nothing: the result is shown until the page is closed.
  }
}

/** The numbers of a check. */
export function summarise({ runs }: Pick<Verification, 'runs'>, at: number): LastCheck {
  return {
    at,
    runs: runs.length,
    lines: runs.reduce((sum, { lines }) => sum + lines, 0),
    broken: runs.filter(({ state }) => state === 'broken').length,
    unproven: runs.filter(({ state }) => state === 'unproven').length,
  }
}

/** Parses a stored check; `undefined` if it is not valid. */
export function parseCheck(text: string | null): LastCheck | undefined {
  try {
    const value = JSON.parse(text ?? 'null') as Record<string, unknown> | null
    if (value === null || !FIELDS.every((field) => typeof value[field] === 'number')) return undefined
    return value as unknown as LastCheck
  } catch {
    return undefined
  }
}

function read(): LastCheck | undefined {
  try {
    return parseCheck(localStorage.getItem(KEY))
  } catch {
    // This browser stores nothing.
    return undefined
  }
}
