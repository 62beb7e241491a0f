import { expect, it } from 'vitest'
import type { ApprovalRequest } from '../../../../core/src/events.ts'
import { describeScript } from './describe-request.ts'

const call = (seq: number, line?: number) =>
  ({ id: `approval-${seq}`, run: 'r1', script: { id: 'c1-1', sha256: '0', seq, line } }) as unknown as ApprovalRequest
const LONG = Array.from({ length: 100 }, (_, index) => `line${index + 1}()`).join('\n')

it('marks the lines that wait', () => {
  expect(describeScript([call(1, 2)], 'a()\nb()', {})).toBe('script c1-1  1 call waits, run r1\n    1  a()\n  ▶ 2  b()')
})

it('shows a long source around the lines that wait, says what is missing, and shows all of it if asked to', () => {
  const text = describeScript([call(1, 10), call(2, 90)], LONG, {})
  expect(text).toContain('▶  10  line10()')
  expect(text).toContain('▶  90  line90()')
  expect(text).toContain('   93  line93()')
  expect(text).not.toContain('line50()')
  expect(text.match(/… \d+ lines not shown here; .* approvals --full shows all/g)).toHaveLength(3)
  expect(describeScript([call(1, 10)], LONG, { full: true })).toContain('   50  line50()')
})

it('names every call in the commands that answer all of them', () => {
  const text = describeScript([call(1, 1), call(2)], 'a()', { config: 'my config.yaml' })
  expect(text).toMatch(/answer all .* approvals allow approval-1 approval-2 --config ['"]my config.yaml['"]\n/)
  expect(text).toMatch(/answer all .* approvals deny approval-1 approval-2 .* --reason "…"$/)
})

it('shows what is hidden in a source, and says if there is none', () => {
  expect(describeScript([call(1, 1)], 'a(\u202e)\u2028b()', {})).toContain('▶ 1  a(\\u{202e})\n    2  b()')
  expect(describeScript([call(1, 1)], undefined, {})).toContain('its source is not available')
})
