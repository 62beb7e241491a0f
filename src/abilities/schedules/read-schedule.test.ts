import { expect, it } from 'vitest'
import { readNew } from './read-schedule.ts'

it('takes calls of 64,000 characters as JSON, and not one more', () => {
  const calls = (chars: number) => [{ tool: 'note', input: { text: 'x'.repeat(chars) } }]
  const frame = JSON.stringify(calls(0)).length
  const read = (chars: number) => readNew({ name: 'job', when: { every: '10m' }, calls: calls(chars) } as never, {}, 0)
  expect(JSON.stringify(read(64_000 - frame).calls)).toHaveLength(64_000)
  expect(() => read(64_001 - frame)).toThrow('64001 characters, the limit is 64000')
})
