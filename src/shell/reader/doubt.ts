import type { Doubt } from '../reading.ts'

/** It does more than its words say. */
export function reach(reason: string): Doubt {
  return { kind: 'reach', reason }
}

/** What runs is only known when it runs. */
export function hidden(reason: string): Doubt {
  return { kind: 'hidden', reason }
}
