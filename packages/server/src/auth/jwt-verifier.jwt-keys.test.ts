import { expect, it } from 'vitest'
import { jwtConfig } from './jwt-verifier.ts'

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

it.each([
  ['an audience', { audience: 'a' }, true],
  ['an audience without a name', { audience: '' }, false],
  ['several audiences', { audience: ['a', 'b'] }, true],
  ['one audience in a list', { audience: ['a'] }, true],
  ['no audience in a list', { audience: [] }, false],
  ['an audience without a name in a list', { audience: ['a', ''] }, false],
  ['a key without its type', { jwks: { keys: [{ kid: 'one' }] } }, false],
  ['a claim', { scopesClaim: 's' }, true],
  ['a claim without a name', { scopesClaim: '' }, false],
  ['a word for one scope', { map: { ops: 'call' } }, true],
  ['a word for several scopes', { map: { ops: ['call', 'read'] } }, true],
  ['a word for a scope that does not exist', { map: { ops: ['fly'] } }, false],
  ['limits', { limits: { profile: 'minimal' } }, true],
  ['limits that do not exist', { limits: { gravity: 1 } }, false],
  ['a field that does not exist', { issuers: 'https://id.example' }, false],
])('takes %s, written as %j: %s', (_, config, isAccepted) => {
  expect(accepts({ issuer: 'https://id.example', ...config })).toBe(isAccepted)
})

it('looks for scopes in the claim scope by default', () => {
  const config = { issuer: 'https://id.example', audience: 'hub' }
  expect(jwtConfig.parse(config)).toEqual({ ...config, scopesClaim: 'scope' })
})

it('says what is wrong with an address once', () => {
  const problems = (issuer: string) =>
    jwtConfig.safeParse({ audience: 'hub', issuer }).error?.issues.map(({ message }) => message)
  expect(problems('http://id.example')).toEqual(['must begin with https://'])
  expect(problems('localhost')).toEqual(['Invalid URL'])
  const issuer = 'https://id.example'
  const both = { audience: 'hub', issuer, jwksUri: issuer, jwks: { keys: [{ kty: 'RSA' }] } }
  expect(jwtConfig.safeParse(both).error?.issues).toMatchObject([
    { path: [], message: 'has jwksUri and jwks; give one of them' },
  ])
})
