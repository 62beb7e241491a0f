import { defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'

/** Returns the current time. */
export const timeNow = defineTool({
  name: 'core/util.time.now',
  title: 'Current time',
  description:
    'Get the present date and time, in UTC and in a time zone. Use it whenever an answer depends on today or now: you do ' +
    'not know the date otherwise. Not for waiting, and not for converting other dates.',
  input: z.strictObject({
    timezone: z.string().max(64).default('UTC').describe('IANA time zone: Europe/Berlin, America/New_York, UTC.'),
  }),
  output: z.strictObject({
    iso: z.string().describe('The time in UTC, ISO 8601.'),
    epochMs: z.int().describe('Milliseconds since 1970-01-01 UTC.'),
    timezone: z.string().describe('The zone of local.'),
    local: z.string().describe('The same time in the zone, ISO 8601 with its offset.'),
    offsetMinutes: z.int().min(-1440).max(1440).describe('Minutes that the zone is ahead of UTC.'),
  }),
  examples: [{ input: {}, note: 'UTC' }, { input: { timezone: 'Europe/Berlin' } }],
  category: 'util',
  tags: ['time', 'date', 'clock', 'timezone'],
  version: '1.0.0',
  execute({ timezone }, ctx) {
    const epochMs = ctx.now()
    const offset = offsetAt(epochMs, timezone)
    const offsetMinutes = toMinutes(offset)
    const local = new Date(epochMs + offsetMinutes * 60_000).toISOString().slice(0, -1) + offset
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: `the clock said ${local}` })
    return { iso: new Date(epochMs).toISOString(), epochMs, timezone, local, offsetMinutes }
  },
  toModel: ({ local, timezone, iso }) => `${local} (${timezone}); ${iso} in UTC.`,
})

/** The offset of a time zone at a moment, `+02:00`, as the platform knows it. */
function offsetAt(epochMs: number, timezone: string): string {
  if (timezone === 'UTC') return '+00:00'
  const parts = zoneFormat(timezone).formatToParts(epochMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return name.slice('GMT'.length) || '+00:00'
}

/** The last format is cached: creating one takes longer than the rest of the call, and a run mostly uses one zone. */
let last: { readonly timezone: string; readonly format: Intl.DateTimeFormat } | undefined

function zoneFormat(timezone: string): Intl.DateTimeFormat {
  if (last?.timezone === timezone) return last.format
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' })
    last = { timezone, format }
    return format
  } catch (cause) {
    throw new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(timezone)} is not a time zone.`, {
      fix: { key: 'timezone', hint: 'Use an IANA name such as Europe/Berlin, America/New_York or UTC.' },
      cause,
    })
  }
}

function toMinutes(offset: string): number {
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6))
  return offset.startsWith('-') ? -minutes : minutes
}
