import { ToolError } from '../../errors.ts'

/** There is one of that name. */
export function duplicateSchedule(name: string): ToolError {
  return new ToolError('CONFLICT', `There is a schedule ${name} already.`, {
    hint: 'Change that one with update, or choose another name.',
  })
}

/** There are enough. */
export function tooManySchedules(held: number, most: number): ToolError {
  return new ToolError('BUDGET_EXCEEDED', `There are ${held} schedules already; the limit is ${most}.`, {
    fix: { key: 'schedules.most', hint: 'Remove one that is not needed any more, or have the owner raise the limit.' },
  })
}
