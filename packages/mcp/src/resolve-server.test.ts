import { describe, expect, it } from 'vitest'
import type { McpServer } from '../../core/src/mcp-server.ts'
import { resolveOAuth } from './connection/connect.ts'
import { resolveServer, signsIn } from './resolve-server.ts'

const hidden: string[] = []
const host = {
  secret: (name: string) => (name === 'key' ? 'k-e-y-1' : undefined),
  hide: (values: readonly string[]) => void hidden.push(...values),
}
const resolve = (server: McpServer) => resolveServer('x', server, { host, env: { PORT: '81', TOKEN: 'tok-en-1' } })

describe('the configuration of a server', () => {
  it('is a program with its words, folder, environment and access', () => {
    const server = {
      command: 'run',
      args: ['--port', '${PORT}'],
      cwd: '/srv/${PORT}',
      env: { A: '${env:PORT}' },
      sandbox: true,
    }
    const request = { argv: ['run', '--port', '81'], cwd: '/srv/81', env: { A: '81' }, access: {} }
    expect(resolve(server)).toEqual({ kind: 'program', request })
    expect(resolve({ command: 'run', sandbox: { hosts: ['a.org'] } })).toMatchObject({
      request: { access: { hosts: ['a.org'] } },
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
    for (const url of ['file:///etc/passwd', 'xhttp://a.org', 'httpx://a.org', 'a.org', '']) {
      expect(() => resolve({ url })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: 'The url of the MCP server x is not an address of http or https.',
          fix: { key: 'mcpServers.x.url', hint: 'Write it whole: https://mcp.example.org/mcp.' },
        }),
      )
    }
    expect(resolve({ url: 'https://a.org/${PORT}', type: 'http' })).toEqual({
      kind: 'web',
      url: new URL('https://a.org/81'),
      headers: {},
      isSse: false,
    })
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

  it.each([
    ['command', { command: '${NONE}' }],
    ['args[0]', { command: 'run', args: ['${NONE}'] }],
    ['env.KEY', { command: 'run', env: { KEY: '${NONE}' } }],
    ['cwd', { command: 'run', cwd: '${NONE}' }],
    ['url', { url: '${NONE}' }],
    ['headers.KEY', { url: 'https://a.org', headers: { KEY: '${NONE}' } }],
  ])('names %s where its value is missing', (key, server) => {
    expect(() => resolve(server)).toThrow(`${key} of the MCP server x needs the environment variable NONE`)
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
    expect(signsIn({ url: 'https://a.org', headers: { 'X-Key': 'x' }, oauth: {} })).toBe(true)
  })

  it('has a client of its own to sign in with', () => {
    const oauth = { clientId: 'me', clientSecret: '${secret:key}', scopes: ['read'] }
    expect(resolveOAuth('x', { url: 'https://a.org/mcp', oauth }, host, {})).toEqual({
      url: 'https://a.org/mcp',
      oauth: { clientId: 'me', clientSecret: 'k-e-y-1', scopes: ['read'] },
    })
    hidden.length = 0
    const named = { clientId: '${ID}', clientSecret: 'hush' }
    expect(resolveOAuth('x', { url: 'https://a.org/${ID}', oauth: named }, host, { ID: 'id' })).toEqual({
      url: 'https://a.org/id',
      oauth: { clientId: 'id', clientSecret: 'hush' },
    })
    expect(hidden).toEqual(['hush'])
    for (const oauth of [undefined, false] as const) {
      expect(resolveOAuth('x', { url: 'https://a.org', oauth }, host, {})).toEqual({
        url: 'https://a.org/',
        oauth: undefined,
      })
    }
    expect(resolveOAuth('x', { url: 'https://a.org', oauth: { scopes: [] } }, host, {}).oauth).toEqual({ scopes: [] })
    expect(hidden).toEqual(['hush'])
    const failing = (oauth: object) => () => resolveOAuth('x', { url: 'https://a.org', oauth }, host, {})
    expect(failing({ clientId: '${NONE}' })).toThrow(/^oauth\.clientId of the MCP server x/)
    expect(failing({ clientSecret: '${NONE}' })).toThrow(/^oauth\.clientSecret of the MCP server x/)
    expect(() => resolveOAuth('x', { url: '${NONE}' }, host, {})).toThrow(/^url of the MCP server x/)
  })
})
