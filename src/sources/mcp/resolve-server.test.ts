import { describe, expect, it } from 'vitest'
import type { McpServer } from '../../options.ts'
import { resolveOAuth } from './resolve-oauth.ts'
import { resolveServer, signsIn } from './resolve-server.ts'

const hidden: string[] = []
const host = {
  secret: (name: string) => (name === 'key' ? 'k-e-y-1' : undefined),
  hide: (values: readonly string[]) => void hidden.push(...values),
}
const resolve = (server: McpServer) => resolveServer('x', server, { host, env: { PORT: '81', TOKEN: 'tok-en-1' } })

describe('the configuration of a server', () => {
  it('is a program with its words, folder, environment and fence', () => {
    const server = {
      command: 'run',
      args: ['--port', '${PORT}'],
      cwd: '/srv/${PORT}',
      env: { A: '${env:PORT}' },
      sandbox: true,
    }
    const request = { argv: ['run', '--port', '81'], cwd: '/srv/81', env: { A: '81' }, fence: {} }
    expect(resolve(server)).toEqual({ kind: 'program', request })
    expect(resolve({ command: 'run', sandbox: { hosts: ['a.org'] } })).toMatchObject({
      request: { fence: { hosts: ['a.org'] } },
    })
    expect(resolve({ command: 'run', sandbox: false })).toEqual({
      kind: 'program',
      request: { argv: ['run'], env: {} },
    })
  })

  it('is a service with its address and headers', () => {
    const server = { type: 'sse', url: 'http://localhost:${PORT}/sse', headers: { 'X-A': '${PORT}' } } as const
    expect(resolve(server)).toEqual({
      kind: 'web',
      url: new URL('http://localhost:81/sse'),
      headers: { 'X-A': '81' },
      isSse: true,
    })
    expect(() => resolve({ url: 'file:///etc/passwd' })).toThrow(/not an address of http/)
  })

  it('hides what its keys call secret, also without the word before it', () => {
    hidden.length = 0
    resolve({ url: 'https://a.org', headers: { Authorization: 'Bearer ${TOKEN}', 'X-Plain': 'long enough' } })
    resolve({ command: 'run', env: { GITHUB_TOKEN: '${secret:key}', MODE: 'production' } })
    expect([...new Set(hidden)]).toEqual(['tok-en-1', 'Bearer tok-en-1', 'k-e-y-1'])
  })

  it('hides whatever comes from the environment or from secrets, wherever it stands', () => {
    const env = { A: 'value-a', B: 'value-b', C: 'value-c', D: 'value-d', SHORT: 'short', PROJECT_DIR: '/srv/project' }
    const all = { ...env, HOME: '/home/me', ROOT: 'no-folder' }
    hidden.length = 0
    const program = { command: '${A}', args: ['--key=${env:B}', '${SHORT}', '${PROJECT_DIR}', '${ROOT}'] }
    resolveServer('x', { ...program, env: { MODE: '${C}', X: '${NONE:-default}' }, cwd: '${HOME}' }, { host, env: all })
    resolveServer('x', { url: 'https://a.org/${D}?k=${secret:key}' }, { host, env: all })
    expect(hidden).toEqual(['value-a', 'value-b', 'no-folder', 'value-c', 'value-d', 'k-e-y-1'])
  })

  it('names the key of what is missing', () => {
    expect(() => resolve({ command: 'run', args: ['a', '${NONE}'] })).toThrow(
      /args\[1\] of the MCP server x needs .* NONE/,
    )
  })

  it('signs in unless it says how it is let in, or that it is not to', () => {
    expect(signsIn({ url: 'https://a.org' })).toBe(true)
    expect(signsIn({ url: 'https://a.org', oauth: false })).toBe(false)
    expect(signsIn({ url: 'https://a.org', headers: { authorization: 'x' } })).toBe(false)
  })

  it('has a client of its own to sign in with', () => {
    const oauth = { clientId: 'me', clientSecret: '${secret:key}', scopes: ['read'] }
    expect(resolveOAuth('x', { url: 'https://a.org/mcp', oauth }, host, {})).toEqual({
      url: 'https://a.org/mcp',
      oauth: { clientId: 'me', clientSecret: 'k-e-y-1', scopes: ['read'] },
    })
  })
})
