import { expect, it } from 'vitest'
import type { StoredToken } from '../../../core/src/store.ts'
import { readTokenBody, toTokenEntry } from './token.ts'

const body = { scopes: ['call', 'read'], base: '/srv', profile: 'minimal' }
const stored: StoredToken = { id: 'token-1', name: 'ci', hash: 'h', body: JSON.stringify(body), createdAt: 5 }

it('reads what the store keeps of a token', () => {
  expect(readTokenBody(stored)).toEqual(body)
})

it.each([
  ['no JSON', '{'],
  ['an unknown scope', JSON.stringify({ ...body, scopes: ['fly'] })],
  ['no scopes', JSON.stringify({ base: '/srv' })],
  ['no folder', JSON.stringify({ scopes: ['call'] })],
  ['a folder that is not absolute', JSON.stringify({ ...body, base: 'srv' })],
  ['a limit that this version does not know', JSON.stringify({ ...body, gravity: 1 })],
])('opens nothing for %s, and lists it without scopes', (_, text) => {
  expect(() => readTokenBody({ ...stored, body: text })).toThrow(
    expect.objectContaining({
      code: 'FORBIDDEN',
      message: 'What the store keeps of token ci cannot be read by this version.',
      fix: { hint: 'Revoke it and make a new one: tool-hub tokens revoke ci' },
      cause: expect.any(Error),
    }),
  )
  expect(toTokenEntry({ ...stored, body: text }, 0)).toStrictEqual({
    scopes: [],
    id: 'token-1',
    name: 'ci',
    createdAt: 5,
  })
})

it('lists a token with its times and limits, but neither its hash nor its folder', () => {
  const entry = { scopes: ['call', 'read'], profile: 'minimal', id: 'token-1', name: 'ci', createdAt: 5 }
  expect(toTokenEntry(stored, 0)).toStrictEqual(entry)
  expect(toTokenEntry({ ...stored, expiresAt: 0 }, 0)).toStrictEqual({ ...entry, expiresAt: 0 })
  expect(toTokenEntry({ ...stored, usedAt: 0 }, 0)).toStrictEqual({ ...entry, usedAt: 0 })
})
