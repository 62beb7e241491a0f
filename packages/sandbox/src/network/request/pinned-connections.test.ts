import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { CERTIFICATE, KEY } from '../../../../../test/support/secure-test.ts'
import { createNetworkGuard } from '../network-guard.ts'
import { refuseStranger } from './pinned-connections.ts'

let server: Server
let port: number
let names: (string | false | null)[]

beforeEach(async () => {
  names = []
  server = createServer({ key: KEY, cert: CERTIFICATE }, (_, response) => response.end('secure'))
  server.on('secureConnection', (socket) => names.push(socket.servername))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})

afterEach(() => {
  vi.unstubAllEnvs()
  server.closeAllConnections()
  server.close()
})

const never = new AbortController().signal
const fetchWith = async (url: string, ca?: string) => {
  const guard = createNetworkGuard({
    allowedHosts: ['*'],
    privateRanges: ['127.0.0.1'],
    maxBytes: 1000,
    timeoutMs: 10_000,
    userAgent: 'test',
    resolve: async () => ['127.0.0.1'],
    ca,
  })
  try {
    return await (await guard.handle({ signal: () => never })(url)).text()
  } finally {
    await guard.close()
  }
}

it('dials the judged address and checks the certificate against the name', async () => {
  expect(await fetchWith(`https://secure.test:${port}/`, CERTIFICATE)).toBe('secure')
  expect(await fetchWith(`https://127.0.0.1:${port}/`, CERTIFICATE)).toBe('secure')
  expect(names).toEqual(['secure.test', false])
})

it('trusts no stranger, whatever the environment says', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  await expect(fetchWith(`https://secure.test:${port}/`)).rejects.toThrow(
    expect.objectContaining({ code: 'UPSTREAM_ERROR' }),
  )
  await expect(fetchWith(`https://other.test:${port}/`, CERTIFICATE)).rejects.toThrow(/other.test/)
})

it('compares where the socket ended with what was judged', () => {
  expect(refuseStranger({ remoteAddress: '::ffff:8.8.8.8' }, '8.8.8.8')).toBeUndefined()
  for (const remoteAddress of ['127.0.0.1', undefined]) {
    expect(refuseStranger({ remoteAddress }, '8.8.8.8')).toMatchObject({ code: 'HTTP_DISALLOWED_HOST' })
  }
})
