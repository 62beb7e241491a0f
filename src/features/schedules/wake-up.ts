import { randomBytes } from 'node:crypto'
import type { FeatureCall } from '../../core/index.ts'
import { invalidSchedule } from './times.ts'
import type { NewSchedule } from './types.ts'

/** What policy decides on: the names of wake-ups are made. */
export const WAKE = 'wake'

const MAX_MS = 366 * 86_400_000
const MAX_TEXT = 4_000

/**
 * A wake-up is a schedule of one time that writes to the inbox of the console, in the name of who asked for it: a session
 * that is asleep or over reads no mail, and the people who run the hub can wake whoever is meant.
 */
export function toWakeUp(
  { text = 'It is time.', at, inMs }: { readonly text?: string; readonly at?: string; readonly inMs?: number },
  { run }: Pick<FeatureCall, 'run'>,
  now: number,
): NewSchedule {
  if ((at === undefined) === (inMs === undefined)) throw invalidSchedule('wake needs at or inMs, one of the two.')
  if (inMs !== undefined && !(inMs >= 1 && inMs <= MAX_MS))
    throw invalidSchedule(`inMs is ${inMs}; it is at least 1 and at most ${MAX_MS}.`)
  if (text.length > MAX_TEXT) throw invalidSchedule(`The text has ${text.length} characters, the limit is ${MAX_TEXT}.`)
  const title = `Wake-up of ${run}`
  return {
    name: `wake-${now.toString(36)}-${randomBytes(3).toString('hex')}`,
    when: { at: at ?? new Date(now + inMs!).toISOString() },
    calls: [{ tool: 'core/message.send', input: { channel: 'console', title, text } }],
  }
}
