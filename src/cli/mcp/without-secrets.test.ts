import { expect, it } from 'vitest'
import { withoutSecrets } from './without-secrets.ts'

it('puts references where secrets stood, by name and by shape, and says what to set', () => {
  const token = `ghp_${'a1'.repeat(18)}`
  const { entry, missing } = withoutSecrets({
    command: 'x',
    env: { GITHUB_TOKEN: 'short', OTHER: token, LEVEL: 'debug', REF: '${env:REF_TOKEN}', EMPTY_TOKEN: '' },
    headers: { Authorization: `Bearer ${token}`, 'X-Api-Key': 'abc', Accept: 'text/plain' },
  })
  expect(entry).toEqual({
    command: 'x',
    env: {
      GITHUB_TOKEN: '${env:GITHUB_TOKEN}',
      OTHER: '${env:OTHER}',
      LEVEL: 'debug',
      REF: '${env:REF_TOKEN}',
      EMPTY_TOKEN: '',
    },
    headers: { Authorization: 'Bearer ${env:AUTHORIZATION}', 'X-Api-Key': '${env:X_API_KEY}', Accept: 'text/plain' },
  })
  expect(missing).toEqual(['GITHUB_TOKEN', 'OTHER', 'AUTHORIZATION', 'X_API_KEY'])
})

it('leaves what is no object for the check that follows', () => {
  expect(withoutSecrets('x')).toEqual({ entry: 'x', missing: [] })
})
