import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/index.ts'

/** A new run id: sorts by time, says when. */
export function newRunId(clock: Clock, kind = 'run'): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `${kind}-${stamp}-${randomBytes(4).toString('hex')}`
}
