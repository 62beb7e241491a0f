import { expect, it } from 'vitest'
import { tellingArgument } from './describe-calls.ts'

it('picks the argument that says most about a call', () => {
  expect(tellingArgument({ cwd: 'src', command: 'npm test\n --silent' })).toBe('npm test --silent')
  expect(tellingArgument({ channel: 'console', text: 'Standup in 15 minutes.' })).toBe('Standup in 15 minutes.')
  expect(tellingArgument({ limit: 5, city: 'Oslo' })).toBe('city: Oslo')
  expect(tellingArgument({ limit: 5 })).toBe('limit: 5')
  expect(tellingArgument([1, 2])).toBe('[1,2]')
})

it('has nothing to say about a call without arguments, and cuts long ones', () => {
  for (const none of [undefined, null, {}, { path: undefined }]) expect(tellingArgument(none)).toBeUndefined()
  expect(tellingArgument({ text: 'x'.repeat(400) })).toHaveLength(301)
})
