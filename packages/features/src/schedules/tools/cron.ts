import { actionNeeds, type Context, defineTool, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { scheduleName } from '../schema.ts'
import { cronProblem } from '../times.ts'
import { MISSED_POLICIES, OVERLAP_POLICIES, type ScheduleChange, type WrittenWhen } from '../types.ts'
import { cronResult, showCron, toRun, toSchedule, toShortSchedule, toStatus } from './cron-result.ts'

const TIMES = ['cron', 'every', 'at'] as const
const INTERVAL = /^\d{1,16}(\.\d{1,6})? ?(ms|s|m|min|h|d)$/

const scheduledCall = z.strictObject({
  tool: z.string().min(1).max(128).describe('Name of the tool.'),
  input: z.record(z.string(), z.unknown()).default({}).describe('Its arguments.'),
})

/** Not part of the schema that models see, because its pattern has two hundred characters. */
const TIME_FORM = z.iso.datetime({ local: true, offset: true })
const TIME = z
  .string()
  .max(40)
  .refine((text) => TIME_FORM.safeParse(text).success, 'must be a time such as 2027-01-31T09:00')

const fields = z.strictObject({
  action: z
    .enum(['status', 'list', 'add', 'update', 'remove', 'run', 'runs', 'wake'])
    .describe('run makes the calls of a schedule now, runs lists its past runs, wake sets a one-time reminder.'),
  name: z
    .string()
    .min(1)
    .max(80)
    .normalize('NFC')
    .optional()
    .describe('Name of the schedule. Required by add, update, remove, run and runs; list shows one in full.'),
  cron: z
    .string()
    .max(200)
    .superRefine(checkCron)
    .optional()
    .describe('add, update: a cron expression such as "0 9 * * 1-5", minute first.'),
  every: z
    .string()
    .max(30)
    .regex(INTERVAL, 'must be an interval such as 90s, 15m, 1h or 1d')
    .optional()
    .describe('add, update: an interval such as 15m, 2h, 1d.'),
  at: TIME.optional().describe('add, update, wake: one time, such as 2027-01-31T09:00, optionally with an offset.'),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'Unknown time zone: use a name such as Europe/Berlin or UTC')
    .optional()
    .describe("Time zone of cron and at, such as Europe/Berlin. Default: the owner's."),
  calls: z.array(scheduledCall).min(1).max(20).optional().describe('add, update: the calls to make, in this order.'),
  continueOnError: z.boolean().optional().describe('Make the remaining calls after one that failed.'),
  missed: z
    .enum(MISSED_POLICIES)
    .optional()
    .describe(
      'What to do about times that passed while nothing ran schedules: skip them, one run for all, or one for each. Default: once.',
    ),
  overlap: z
    .enum(OVERLAP_POLICIES)
    .optional()
    .describe(
      'What to do while the previous run is active: skip this time, queue it, or run in parallel. Default: skip.',
    ),
  jitterMs: z.int().min(0).max(3_600_000).optional().describe('Maximum random delay of each run.'),
  enabled: z.boolean().optional().describe('update: false disables the schedule, true enables it.'),
  until: TIME.optional().describe('Do not run after this time.'),
  maxRuns: z.int().min(1).max(1_000_000_000).optional().describe('Maximum number of runs.'),
  timeoutMs: z.int().min(1_000).max(86_400_000).optional().describe('Time limit of one run. Default: 1 h.'),
  text: z.string().max(4_000).optional().describe('wake: text of the reminder.'),
  inMs: z.int().min(1).max(31_622_400_000).optional().describe('wake: delay in milliseconds, instead of at.'),
  limit: z.int().min(1).max(100).default(20).describe('runs: maximum number, newest first.'),
  before: z.int().min(0).optional().describe('runs: next of the previous page.'),
})

const input = fields
  .superRefine(
    actionNeeds('cron', {
      add: ['name', 'calls', TIMES],
      update: ['name'],
      remove: ['name'],
      run: ['name'],
      runs: ['name'],
      wake: [['at', 'inMs']],
    }),
  )
  .superRefine((given, context) => {
    const times = TIMES.filter((key) => given[key] !== undefined)
    if (given.action !== 'wake' && times.length > 1)
      context.addIssue({ code: 'custom', message: `give one of cron, every and at; ${times.join(' and ')} are given` })
    if (given.action !== 'add' || given.name === undefined) return
    const [problem] = scheduleName.safeParse(given.name).error?.issues ?? []
    if (problem) context.addIssue({ code: 'custom', path: ['name'], message: problem.message })
  })

type Input = z.infer<typeof input>

/** Manages schedules. The policy decides on every scheduled call again when it is made. */
export const cron = defineTool({
  name: 'core/cron',
  title: 'Schedules',
  description:
    'Make tool calls later: at the times of a cron expression, at an interval, or once. Use it for work that must happen ' +
    'while you are not running: add, list, update, remove and run schedules, see their past runs, or set a reminder (wake). ' +
    'The policy decides on every call again when it is made; a call that needs approval then waits for a person, or fails. ' +
    'Not for short waits within this run.',
  input,
  output: cronResult,
  capabilities: ['schedule'],
  targets: ({ action, name }) => {
    if (action === 'wake') return { schedule: 'wake' }
    const isLooking = action === 'status' || action === 'list' || action === 'runs'
    return { schedule: isLooking || name === undefined ? [] : name }
  },
  timeoutMs: 60_000,
  category: 'other',
  tags: ['schedule', 'cron', 'later', 'reminder'],
  version: '1.0.0',
  examples: [
    {
      input: {
        action: 'add',
        name: 'stamp',
        cron: '0 9 * * 1-5',
        timeZone: 'Europe/Berlin',
        calls: [{ tool: 'core/util.time.now', input: {} }],
      },
      note: 'weekdays at 9:00 in Berlin',
    },
    { input: { action: 'list' } },
  ],
  dialects: { coding: { name: 'cron' } },
  async execute(input, ctx) {
    const { action } = input
    const result = await act(input, ctx)
    ctx.evidence({ type: 'tool', ref: input.name ?? action, summary: `schedule ${action}` })
    return { action, ...result }
  },
  toModel: showCron,
})

async function act(
  input: Input,
  { schedules }: Context<'schedule'>,
): Promise<Omit<z.infer<typeof cronResult>, 'action'>> {
  switch (input.action) {
    case 'status':
      return { status: toStatus(await schedules.status()) }
    case 'list':
      if (input.name !== undefined) return { schedule: toSchedule(await schedules.find(input.name)) }
      return { schedules: (await schedules.list()).map(toShortSchedule) }
    case 'add': {
      const [name, calls] = [needed(input, 'name'), needed(input, 'calls')]
      return { schedule: toSchedule(await schedules.add({ ...settingsOf(input), name, calls, when: whenOf(input) })) }
    }
    case 'update': {
      const when = TIMES.some((key) => input[key] !== undefined) ? { when: whenOf(input) } : {}
      return { schedule: toSchedule(await schedules.update(needed(input, 'name'), { ...settingsOf(input), ...when })) }
    }
    case 'remove':
      return { schedule: toShortSchedule(await schedules.remove(needed(input, 'name'))) }
    case 'run':
      return { run: toRun(await schedules.run(needed(input, 'name'))) }
    case 'runs': {
      const { limit, before } = input
      const page = await schedules.runs(needed(input, 'name'), { limit, before })
      return { runs: page.runs.map(toRun), ...(page.next !== undefined && { next: page.next }) }
    }
    case 'wake': {
      const { text, at, inMs } = input
      return { schedule: toShortSchedule(await schedules.wake(withoutAbsent({ text, at, inMs }))) }
    }
  }
}

function settingsOf(input: Input): ScheduleChange {
  const { timeZone, calls, continueOnError, missed, overlap, jitterMs, enabled, until, maxRuns, timeoutMs } = input
  return withoutAbsent({
    timeZone,
    calls,
    continueOnError,
    missed,
    overlap,
    jitterMs,
    enabled,
    until,
    maxRuns,
    timeoutMs,
  })
}

function whenOf(input: Input): WrittenWhen {
  const given = TIMES.filter((key) => input[key] !== undefined)
  const [key] = given
  if (key !== undefined && given.length === 1) return { [key]: input[key] } as WrittenWhen
  const found = given.length === 0 ? 'none is given' : `${given.join(' and ')} are given`
  throw new ToolError('INPUT_SCHEMA_INVALID', `cron ${input.action} needs one of cron, every and at; ${found}.`, {
    hint: 'cron: "0 9 * * 1-5", every: "15m", or at: "2027-01-31T09:00".',
  })
}

function needed<K extends 'name' | 'calls'>(input: Input, key: K): NonNullable<Input[K]> {
  const value = input[key]
  if (value !== undefined) return value as NonNullable<Input[K]>
  throw new ToolError('INPUT_SCHEMA_INVALID', `cron ${input.action} needs ${key}.`, {
    hint: key === 'name' ? 'Give name; cron list shows the names.' : 'Give calls: [{ tool, input }].',
  })
}

function checkCron(expression: string, context: z.core.$RefinementCtx): void {
  const problem = cronProblem(expression)
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem })
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    return true
  } catch {
    return false
  }
}

/** The values that are given. */
function withoutAbsent<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
