import { z } from 'zod'
import type { SchedulesOptions } from '../../contracts/schedules.ts'
import { messageOf, ToolError } from '../../errors.ts'
import { checkTimeZone } from './cron-expression.ts'

const optionsSchema = z.strictObject({
  entries: z.record(z.string(), z.unknown()).optional(),
  timeZone: z.string().optional(),
  most: z.int().min(0).optional(),
  shortestMs: z.int().min(1_000).optional(),
  parallel: z.int().min(1).max(256).optional(),
  keep: z.int().min(1).max(10_000).optional(),
})

/** Refuses options that would mean nothing; what is in the entries is told one by one when they are started. */
export function checkOptions(options: SchedulesOptions): void {
  const { success, error } = optionsSchema.safeParse(options)
  const [issue] = error?.issues ?? []
  if (!success) throw invalid(`${['schedules', ...(issue?.path ?? [])].join('.')}: ${issue?.message}`)
  if (options.timeZone === undefined) return
  try {
    checkTimeZone(options.timeZone)
  } catch (cause) {
    throw invalid(`schedules.timeZone: ${messageOf(cause)}`)
  }
}

function invalid(message: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint: 'docs/schedules.md shows what there is.' })
}
