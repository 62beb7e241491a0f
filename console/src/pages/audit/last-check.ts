import { createValue } from '../../state/create-value.ts'
import type { Verification } from './verification.ts'

/** What the last whole check of the records found. */
export interface LastCheck {
  readonly at: number
  readonly runs: number
  readonly lines: number
  readonly broken: number
  readonly unproven: number
}

const KEY = 'tool-hub.lastCheck'
const FIELDS = ['at', 'runs', 'lines', 'broken', 'unproven'] as const

/** The last whole check that was made in this browser. */
export const lastCheck = createValue<LastCheck | undefined>(read())

/** Keeps what a check found for the next time the page is opened. */
export function keepCheck(verification: Pick<Verification, 'runs'>, at: number): void {
  const check = summarise(verification, at)
  lastCheck.set(check)
  try {
    localStorage.setItem(KEY, JSON.stringify(check))
  } catch {
    // A browser that keeps nothing shows it until the page is closed.
  }
}

/** What a check found, in numbers. */
export function summarise({ runs }: Pick<Verification, 'runs'>, at: number): LastCheck {
  return {
    at,
    runs: runs.length,
    lines: runs.reduce((sum, { lines }) => sum + lines, 0),
    broken: runs.filter(({ state }) => state === 'broken').length,
    unproven: runs.filter(({ state }) => state === 'unproven').length,
  }
}

/** A check as it was kept; `undefined` for anything else. */
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
    // There is no storage here.
    return undefined
  }
}
