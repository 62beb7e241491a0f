import type { NewScheduleBody, ScheduleChangeBody, ScheduleEntry } from '../../api/types.ts'
import { toDateField } from './format-in-zone.ts'

/** What is typed about a schedule. */
export interface ScheduleForm {
  readonly name: string
  readonly kind: 'cron' | 'every' | 'at'
  readonly cron: string
  readonly every: string
  /** As a date field has it, by the clocks of the zone. */
  readonly at: string
  readonly timeZone: string
  readonly calls: readonly CallForm[]
  readonly missed: ScheduleEntry['missed']
  readonly overlap: ScheduleEntry['overlap']
  readonly continueOnError: boolean
  readonly jitterSeconds: string
  readonly timeoutMinutes: string
}

/** One call, its arguments as JSON text. */
export interface CallForm {
  readonly tool: string
  readonly input: string
}

/** What is wrong with it, by field; calls by their place. */
export type ScheduleProblems = Readonly<Record<string, string>>

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._-]{0,59}$/
const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A new one: every morning of a working day, where the page is looked at. */
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

/** One that there is. */
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

/** What keeps it from being sent; the service says what is wrong with an expression. */
export function checkForm(form: ScheduleForm): ScheduleProblems {
  const problems: Record<string, string> = {}
  if (!NAME.test(form.name)) problems.name = 'Letters, digits, . _ and -, beginning with a letter or digit, at most 60.'
  if (form[form.kind].trim() === '') problems.when = 'Say when.'
  for (const [index, { tool, input }] of form.calls.entries()) {
    if (tool.trim() === '') problems[`tool ${index}`] = 'Choose a tool.'
    if (readJson(input) === undefined) problems[`input ${index}`] = 'Not JSON yet.'
  }
  if (!isAmount(form.jitterSeconds, 0, 3_600)) problems.jitter = 'From 0 to 3,600 seconds.'
  if (!isAmount(form.timeoutMinutes, 1 / 60, 1_440)) problems.timeout = 'From a second to 1,440 minutes.'
  return problems
}

/** When, as the service takes it. */
export function whenOf({ kind, cron, every, at }: ScheduleForm): NewScheduleBody['when'] {
  if (kind === 'cron') return { cron: cron.trim() }
  return kind === 'every' ? { every: every.trim() } : { at }
}

/** The body that makes it; only of a form without problems. */
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

/** Only what is another one than before, so that nothing else is said again. */
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
    // Somebody is still at it.
    return undefined
  }
}

function isAmount(text: string, least: number, most: number): boolean {
  return text.trim() !== '' && Number(text) >= least && Number(text) <= most
}
