import { expect, it } from 'vitest'
import { jwtConfig } from './jwt-config.ts'

const accepts = (config: object) => jwtConfig.safeParse({ audience: 'hub', ...config }).success

it.each([
  ['https://id.example', true],
  ['http://localhost:8080', true],
  ['http://127.0.0.1:8080', true],
  ['http://[::1]:8080', true],
  ['http://id.example', false],
  ['http://localhost.example', false],
  ['httpsx://localhost', false],
  ['xhttps://localhost', false],
  ['ftp://localhost', false],
  ['localhost', false],
])('keys come from %s: %s', (address, isAccepted) => {
  expect(accepts({ issuer: address })).toBe(isAccepted)
  expect(accepts({ issuer: 'https://id.example', jwksUri: address })).toBe(isAccepted)
})

it('keys are given or fetched, not both', () => {
  const jwks = { keys: [{ kty: 'RSA' }] }
  const issuer = 'https://id.example'
  expect(accepts({ issuer, jwks })).toBe(true)
  expect(accepts({ issuer, jwks: { keys: [] } })).toBe(false)
  expect(accepts({ issuer, jwks, jwksUri: `${issuer}/keys` })).toBe(false)
})
