import { isGivenName, NAME_SIGNS } from '@tool-hub/core/protocol/given-name'
import type { NewScheduleBody, ScheduleChangeBody, ScheduleEntry } from '../../api/types.ts'
import { toDateField } from './describe.ts'

/** The values of the schedule form. */
export interface ScheduleForm {
  readonly name: string
  readonly kind: 'cron' | 'every' | 'at'
  readonly cron: string
  readonly every: string
  /** As the value of a date field, in the time zone. */
  readonly at: string
  readonly timeZone: string
  readonly calls: readonly CallForm[]
  readonly missed: ScheduleEntry['missed']
  readonly overlap: ScheduleEntry['overlap']
  readonly continueOnError: boolean
  readonly jitterSeconds: string
  readonly timeoutMinutes: string
}

/** A call, with its arguments as JSON text. */
export interface CallForm {
  readonly tool: string
  readonly input: string
}

/** Problems by field; calls by their index. */
export type ScheduleProblems = Readonly<Record<string, string>>

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** The form of a new schedule: every working day in the morning, in the time zone of the browser. */
export function emptyForm(): ScheduleForm {
  return {
    name: '',
    kind: 'cron',
    cron: '0 9 * * 1-5',
    every: '1h',
    at: '',
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    calls: [{ tool: '', input: '{}' }],
    missed: 'once',
    overlap: 'skip',
    continueOnError: false,
    jitterSeconds: '0',
    timeoutMinutes: '60',
  }
}

/** The form of an existing schedule. */
export function toForm(schedule: ScheduleEntry): ScheduleForm {
  const { when, timeZone, calls, jitterMs, timeoutMs, ...rest } = schedule
  const { name, missed, overlap, continueOnError } = rest
  return {
    ...emptyForm(),
    ...{ name, timeZone, missed, overlap, continueOnError },
    ...('cron' in when && { kind: 'cron', cron: when.cron }),
    ...('everyMs' in when && { kind: 'every', every: writeInterval(when.everyMs) }),
    ...('at' in when && { kind: 'at', at: toDateField(Date.parse(when.at), timeZone) }),
    calls: calls.map(({ tool, input }) => ({ tool, input: JSON.stringify(input ?? {}, null, 2) })),
    jitterSeconds: String(jitterMs / 1_000),
    timeoutMinutes: String(timeoutMs / 60_000),
  }
}

/** The problems of a form before it is sent; the service validates the expression. */
export function checkForm(form: ScheduleForm): ScheduleProblems {
  const problems: Record<string, string> = {}
  if (!isGivenName(form.name, 60)) problems.name = `Use ${NAME_SIGNS}, at most 60.`
  if (form[form.kind].trim() === '') problems.when = 'Enter a time.'
  for (const [index, { tool, input }] of form.calls.entries()) {
    if (tool.trim() === '') problems[`tool ${index}`] = 'Choose a tool.'
    if (readJson(input) === undefined) problems[`input ${index}`] = 'Not valid JSON.'
  }
  if (!isAmount(form.jitterSeconds, 0, 3_600)) problems.jitter = 'From 0 to 3,600 seconds.'
  if (!isAmount(form.timeoutMinutes, 1 / 60, 1_440)) problems.timeout = 'From a second to 1,440 minutes.'
  return problems
}

/** The time of a schedule as the API takes it. */
export function whenOf({ kind, cron, every, at }: ScheduleForm): NewScheduleBody['when'] {
  if (kind === 'cron') return { cron: cron.trim() }
  return kind === 'every' ? { every: every.trim() } : { at }
}

/** The request body of a form without problems. */
export function toBody(form: ScheduleForm): NewScheduleBody {
  return {
    name: form.name,
    when: whenOf(form),
    timeZone: form.timeZone,
    calls: form.calls.map(({ tool, input }) => ({ tool: tool.trim(), input: readJson(input)?.value })),
    missed: form.missed,
    overlap: form.overlap,
    continueOnError: form.continueOnError,
    jitterMs: Math.round(Number(form.jitterSeconds) * 1_000),
    timeoutMs: Math.round(Number(form.timeoutMinutes) * 60_000),
  }
}

/** The changed fields only. */
export function toChange(before: ScheduleForm, after: ScheduleForm): ScheduleChangeBody {
  const { name: _, ...old } = toBody(before)
  const { name: __, ...next } = toBody(after)
  const changed = Object.entries(next).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify(old[key as keyof typeof old]),
  )
  return Object.fromEntries(changed)
}

function writeInterval(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ['ms', 1]
  return `${ms / size}${unit}`
}

function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: text.trim() === '' ? {} : JSON.parse(text) }
  } catch {
    // The user is still typing.
    return undefined
  }
}

function isAmount(text: string, least: number, most: number): boolean {
  return text.trim() !== '' && Number(text) >= least && Number(text) <= most
}

/** The address of a schedule, or of the list. */
export function schedulePath(id: string | undefined): string {
  return id === undefined ? '/schedules' : `/schedules/${encodeURIComponent(id)}`
}

/** What happens to times that passed while the service was not running. */
export const MISSED_WORDS: Record<ScheduleEntry['missed'], string> = {
  skip: 'skipped',
  once: 'one run for all of them',
  all: 'a run for each',
}

/** What happens while the previous run has not ended. */
export const OVERLAP_WORDS: Record<ScheduleEntry['overlap'], string> = {
  skip: 'skipped while a run is active',
  queue: 'waits for the previous run',
  parallel: 'runs in parallel',
}
