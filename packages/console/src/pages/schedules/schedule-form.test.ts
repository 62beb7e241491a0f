import { describe, expect, it } from 'vitest'
import type { ScheduleEntry } from '../../api/types.ts'
import { checkForm, emptyForm, toBody, toChange, toForm } from './schedule-form.ts'

const schedule: ScheduleEntry = {
  id: 's1',
  name: 'report',
  when: { everyMs: 900_000 },
  timeZone: 'Europe/Berlin',
  calls: [{ tool: 'core/fs.readText', input: { path: 'a' } }],
  continueOnError: false,
  missed: 'once',
  overlap: 'skip',
  jitterMs: 1_500,
  timeoutMs: 3_600_000,
  enabled: true,
  isFromConfig: false,
  createdAt: 0,
  createdBy: { by: 'owner', tainted: false },
  runs: 0,
}

describe('the form of a schedule', () => {
  it('says of one that there is what made it', () => {
    expect(toBody(toForm(schedule))).toEqual({
      name: 'report',
      when: { every: '15m' },
      timeZone: 'Europe/Berlin',
      calls: schedule.calls,
      continueOnError: false,
      missed: 'once',
      overlap: 'skip',
      jitterMs: 1_500,
      timeoutMs: 3_600_000,
    })
  })

  it('has the time of a date by the clocks of its zone', () => {
    const form = toForm({ ...schedule, when: { at: '2027-01-31T08:00:00.000Z' } })
    expect(form).toMatchObject({ kind: 'at', at: '2027-01-31T09:00' })
  })

  it('sends only what was changed', () => {
    const form = toForm(schedule)
    expect(toChange(form, form)).toEqual({})
    expect(toChange(form, { ...form, kind: 'cron', cron: '0 9 * * *', missed: 'all' })).toEqual({
      when: { cron: '0 9 * * *' },
      missed: 'all',
    })
  })

  it('says what is missing', () => {
    const problems = checkForm({
      ...emptyForm(),
      name: 'a b',
      cron: ' ',
      calls: [{ tool: '', input: '{' }],
      timeoutMinutes: '',
    })
    expect(Object.keys(problems)).toEqual(['name', 'when', 'tool 0', 'input 0', 'timeout'])
    expect(checkForm(toForm(schedule))).toEqual({})
    expect(checkForm({ ...toForm(schedule), name: '日报' })).toEqual({})
  })
})
