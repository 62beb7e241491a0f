import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { startService } from '../packages/server/src/start-service.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const PUBLIC = 'https://tools.example.org'
const METADATA = `${PUBLIC}/.well-known/oauth-protected-resource/mcp`

/** A service that trusts an issuer whose keys are on loopback. */
async function start(isTrusting = true, scopes: Record<string, readonly ('call' | 'read')[]> = { agents: ['call'] }) {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k' }] }
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify(keys)),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const home = temporaryFolder()
  const oidc = [{ issuer, audience: 'tool-hub', jwks: `${issuer}/jwks`, scopes }]
  const service = await startService(
    { runs: join(home, 'runs'), data: join(home, 'data') },
    { port: 0, shutdownMs: 1_000, publicUrl: PUBLIC, ...(isTrusting && { oidc }) },
  )
  closers.push(() => service.close())
  const token = (audience: string, scope: string) =>
    new SignJWT({ scope })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(issuer)
      .setSubject('ada')
      .setAudience(audience)
      .setExpirationTime('5m')
      .sign(privateKey)
  const mcp = (bearer?: string) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    })
  return { service, issuer, token, mcp }
}

describe('/mcp as a resource server of OAuth 2.1', () => {
  it('says who signs people in, at both places that clients look', async () => {
    const { service, issuer } = await start()
    for (const path of ['/.well-known/oauth-protected-resource/mcp', '/.well-known/oauth-protected-resource']) {
      const answer = await fetch(service.url + path)
      expect(answer.status).toBe(200)
      expect(await answer.json()).toEqual({
        resource: `${PUBLIC}/mcp`,
        resource_name: 'tool-hub',
        authorization_servers: [issuer],
        scopes_supported: ['agents'],
        bearer_methods_supported: ['header'],
      })
    }
  })

  it('sends a client without a token there, and one whose token is wrong or says too little', async () => {
    const { token, mcp } = await start()
    const nobody = await mcp()
    expect(nobody.status).toBe(401)
    expect(nobody.headers.get('www-authenticate')).toBe(
      `Bearer realm="tool-hub", scope="agents", resource_metadata="${METADATA}"`,
    )
    const wrong = await mcp(await token('another-service', 'agents'))
    expect(wrong.status).toBe(401)
    expect(wrong.headers.get('www-authenticate')).toMatch(/error="invalid_token".*resource_metadata="/)
    const tooLittle = await mcp(await token('tool-hub', 'others'))
    expect(tooLittle.status).toBe(403)
    expect(tooLittle.headers.get('www-authenticate')).toMatch(
      /error="insufficient_scope".*scope="agents".*resource_meta/,
    )
  })

  it('names no scope where none of the issuer allows calls', async () => {
    const { mcp } = await start(true, { watchers: ['read'] })
    expect((await mcp()).headers.get('www-authenticate')).toBe(
      `Bearer realm="tool-hub", resource_metadata="${METADATA}"`,
    )
  })

  it('takes tokens for its audience and for its own URL', async () => {
    const { token, mcp } = await start()
    for (const audience of ['tool-hub', `${PUBLIC}/mcp`]) {
      const answer = await mcp(await token(audience, 'agents'))
      expect({ audience, status: answer.status }).toEqual({ audience, status: 200 })
      expect(await answer.text()).toContain('serverInfo')
    }
  })

  it('promises no sign-in where no issuer is configured', async () => {
    const { service, mcp } = await start(false)
    expect((await fetch(`${service.url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404)
    expect((await mcp()).headers.get('www-authenticate')).not.toContain('resource_metadata')
  })
})
