import { expect, it } from 'vitest'
import { parseCheck, summarise } from './last-check.ts'
import type { AuditedRun } from './verification.ts'

const run = (state: AuditedRun['state'], lines: number): AuditedRun => ({
  ...{ run: state, ok: state !== 'broken', state, lines, calls: 1, interrupted: 0, problems: [], remarks: [] },
})

it('sums up what a check found, and reads it back', () => {
  const check = summarise({ runs: [run('intact', 3), run('broken', 4), run('unproven', 5), run('open', 6)] }, 9)
  expect(check).toEqual({ at: 9, runs: 4, lines: 18, broken: 1, unproven: 1 })
  expect(parseCheck(JSON.stringify(check))).toEqual(check)
})

it('takes nothing else for a check', () => {
  for (const text of [null, '', 'null', '7', '{', '{"at":"now"}']) expect(parseCheck(text)).toBeUndefined()
})
