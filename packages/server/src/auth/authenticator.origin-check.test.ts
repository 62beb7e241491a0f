import { expect, it } from 'vitest'
import { createOriginCheck } from './authenticator.ts'

function check(host: string | null, origin: string | null, options: Parameters<typeof createOriginCheck>[0] = {}) {
  const said: Record<string, string | null> = { host, origin }
  const headers = { get: (name: string) => said[name] ?? null }
  return createOriginCheck(options)({ method: 'GET', url: '/', headers })
}

const longName = 'x'.repeat(300)

it.each([
  [null, '""'],
  ['evil.example', '"evil.example"'],
  ['evil@localhost', '"evil@localhost"'],
  ['localhost/evil', '"localhost/evil"'],
  ['[::1', '"[::1"'],
  [longName, `"${longName.slice(0, 200)}"`],
])('refuses a request to the host %j', (host, shown) => {
  expect(check(host, null)).toMatchObject({
    status: 403,
    error: {
      code: 'FORBIDDEN',
      message: `The service is not called ${shown}.`,
      fix: { hint: 'Use the address that it printed, or have the owner add the name to allowedHosts.' },
    },
  })
})

it.each([
  ['https://evil.example', 'localhost'],
  ['ws://localhost', 'localhost'],
  ['http://localhost/', 'localhost'],
  ['http://LOCALHOST', 'localhost'],
  ['http://localhost:99999', 'localhost'],
  ['http://localhost', 'localhost:99999'],
  ['http://localhost:8080', 'localhost'],
  ['localhost', 'localhost'],
  ['null', 'localhost'],
])('refuses a page of %s at the host %s', (origin, host) => {
  expect(check(host, origin)).toMatchObject({
    status: 403,
    error: {
      message: `Pages of ${JSON.stringify(origin)} may not use the service.`,
      fix: { hint: 'Have the owner add the origin to allowedOrigins.' },
    },
  })
})

it('shows the first 200 characters of an origin', () => {
  const origin = `https://${longName}`
  expect(check('localhost', origin)?.error.message).toBe(`Pages of "${origin.slice(0, 200)}" may not use the service.`)
})

it.each([
  ['http://localhost', 'localhost'],
  ['http://localhost', 'LOCALHOST:80'],
  ['https://localhost', 'localhost:443'],
  ['http://[::1]:4600', '[::1]:4600'],
  ['https://app.example', 'localhost'],
  [null, 'localhost'],
])('takes a page of %s at the host %s', (origin, host) => {
  expect(check(host, origin, { allowedOrigins: ['https://app.example'] })).toBeUndefined()
})

it('looks at every host, whichever came before', () => {
  const isOurs = createOriginCheck({ allowedHosts: ['a.example'] })
  const hosts = ['a.example', 'evil.example', 'a.example', 'A.example', 'localhost', 'evil.example']
  const refused = hosts.map((host) => {
    const headers = { get: (name: string) => (name === 'host' ? host : null) }
    return isOurs({ method: 'GET', url: '/', headers }) !== undefined
  })
  expect(refused).toEqual([false, true, false, false, false, true])
})

it.each(['https://a.example', 'a b', ' a.example', 'a.example ', ''])('does not take %j as a host', (written) => {
  expect(() => createOriginCheck({ allowedHosts: [written] })).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: `allowedHosts: ${JSON.stringify(written)} is not the name of a host.`,
      fix: { hint: 'Write it as in an address: tools.example.org, tools.example.org:8443, [2001:db8::1].' },
    }),
  )
})

it.each(['*', 'app.example', 'https://app.example/', 'HTTPS://app.example', 'ftp://app.example'])(
  'does not take %j as an origin',
  (written) => {
    expect(() => createOriginCheck({ allowedOrigins: [written] })).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: `allowedOrigins: ${JSON.stringify(written)} is not an origin.`,
        fix: { hint: 'Write scheme and host, in small letters and without a path: https://app.example.org' },
      }),
    )
  },
)
