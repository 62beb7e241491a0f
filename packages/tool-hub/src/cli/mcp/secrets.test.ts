import { expect, it } from 'vitest'
import { withoutSecrets } from './secrets.ts'

const token = `ghp_${'a1'.repeat(18)}`

it('puts references where secrets stood, by name and by shape, and says what to set', () => {
  const { entry, taken } = withoutSecrets('docs', {
    command: 'x',
    env: {
      GITHUB_TOKEN: 'short',
      OTHER: token,
      LEVEL: 'debug',
      REF: '${env:REF_TOKEN}',
      EMPTY_TOKEN: '',
      AUTH_ENABLED: 'true',
    },
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
      AUTH_ENABLED: 'true',
    },
    headers: {
      Authorization: 'Bearer ${env:DOCS_AUTHORIZATION}',
      'X-Api-Key': '${env:DOCS_X_API_KEY}',
      Accept: 'text/plain',
    },
  })
  expect(taken.map(({ variable }) => variable)).toEqual([
    'GITHUB_TOKEN',
    'OTHER',
    'DOCS_AUTHORIZATION',
    'DOCS_X_API_KEY',
  ])
})

it('takes a value for a reference only when nothing else is in it', () => {
  const kept = { A_TOKEN: '${A}', B_TOKEN: 'Bearer ${secret:b}' }
  const hidden = { C_TOKEN: `${token}\${X}`, D_TOKEN: `\${D:-${token}}`, E_TOKEN: 'real ${E}' }
  const { entry, taken } = withoutSecrets('x', { env: { ...kept, ...hidden } })
  expect(entry).toMatchObject({ env: kept })
  expect(taken.map(({ key }) => key)).toEqual(Object.keys(hidden))
  expect(JSON.stringify(entry)).not.toMatch(/ghp_|real/)
})

it('finds secrets among the words of a program, and leaves the others alone', () => {
  const plain = [
    '-y',
    'server',
    '--max-tokens',
    '500',
    '--key',
    './tls/server.key',
    '--author',
    'me',
    '--token',
    '${T}',
  ]
  expect(withoutSecrets('x', { command: 'npx', args: plain })).toEqual({
    entry: { command: 'npx', args: plain },
    taken: [],
  })
  const { entry, taken } = withoutSecrets('my-db', {
    command: 'npx',
    args: [
      ...['--token', 'hunter2', '--api-key=abc', '-e', 'DB_PASSWORD=pw', '--header', 'Authorization: Bearer abc'],
      ...[token, 'postgres://me:pw@localhost/db', '--header=X-Api-Key: abc'],
    ],
  })
  expect((entry as { args: string[] }).args).toEqual([
    '--token',
    '${env:MY_DB_TOKEN}',
    '--api-key=${env:MY_DB_API_KEY}',
    '-e',
    'DB_PASSWORD=${env:MY_DB_DB_PASSWORD}',
    '--header',
    'Authorization: Bearer ${env:MY_DB_AUTHORIZATION}',
    '${env:MY_DB_SECRET}',
    'postgres://${env:MY_DB_SECRET_2}@localhost/db',
    '--header=X-Api-Key: ${env:MY_DB_X_API_KEY}',
  ])
  expect(taken).toHaveLength(7)
})

it('finds secrets in an address: before the host, in the query, in the path', () => {
  const long = 'a1b2c3d4e5f6a7b8c9d0e1f2'
  const address = `https://me:pw@mcp.example.org/s/${long}/mcp?api_key=abc&page=2&id=${long}x`
  expect(withoutSecrets('z', { url: address }).entry).toEqual({
    url: 'https://${env:Z_USER}@mcp.example.org/s/${env:Z_PATH}/mcp?api_key=${env:Z_API_KEY}&page=2&id=${env:Z_ID}',
  })
  const plain = 'https://mcp.example.org/v1/some-long-name-of-a-service/mcp?format=json'
  expect(withoutSecrets('z', { url: plain }).entry).toEqual({ url: plain })
})

it('leaves what is not an object to the check that follows', () => {
  expect(withoutSecrets('x', 'x')).toEqual({ entry: 'x', taken: [] })
})
