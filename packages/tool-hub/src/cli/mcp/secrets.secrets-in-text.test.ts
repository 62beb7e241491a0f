import { expect, it } from 'vitest'
import { hideInText } from './secrets.ts'

it('hides values by their name, and shows references whole', () => {
  expect(hideInText('  API_TOKEN: ${env:API_TOKEN}')).toBe('  API_TOKEN: ${env:API_TOKEN}')
  expect(hideInText('{ API_TOKEN: ${secret:github}, next: 1 }')).toBe('{ API_TOKEN: ${secret:github}, next: 1 }')
  expect(hideInText('  API_TOKEN: plain-value-here')).toBe('  API_TOKEN: [redacted]')
  expect(hideInText('  API_TOKEN: ${env:A}plain')).toBe('  API_TOKEN: [redacted]')
})
