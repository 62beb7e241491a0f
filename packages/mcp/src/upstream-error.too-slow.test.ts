import { expect, it } from 'vitest'
import type { McpServer } from '../../core/src/mcp-server.ts'
import { tooSlow } from './upstream-error.ts'

const hint = (server: McpServer) => tooSlow('x', server, 100, 'look at it.').fix.hint

it('says which server was too slow, and may be called again', () => {
  expect(tooSlow('x', { command: 'node' }, 100, 'look at it.')).toMatchObject({
    code: 'TIMEOUT',
    message: 'x did not connect and list its tools within 100 ms.',
    retryable: true,
  })
})

it.each([
  ...['npx', 'npm', 'pnpm', 'pnpx', 'yarn', 'bunx', 'bun', 'uvx', 'uv', 'pipx', 'deno', 'docker'].map((name) => [
    name,
    name,
  ]),
  ['/usr/bin/uvx', 'uvx'],
  ['C:\\node\\npx.cmd', 'npx'],
  ['uv.exe', 'uv'],
])('says that %s cannot download anything without network', (command, program) => {
  for (const sandbox of [true, {}, { hosts: [] }]) {
    expect(hint({ command, sandbox })).toBe(
      `Its sandbox has no network, so ${program} cannot download anything: list the hosts it needs (sandbox: { hosts: […] } of mcpServers.x), or install the package and start that.`,
    )
  }
})

it.each<McpServer>([
  { command: 'npx' },
  { command: 'npx', sandbox: false },
  { command: 'npx', sandbox: { hosts: ['a.org'] } },
  { command: 'node', sandbox: true },
  { command: 'npx-server', sandbox: true },
  { command: 'npx/server', sandbox: true },
  { command: 'my-npx', sandbox: true },
  { command: 'npx.sh', sandbox: true },
  { url: 'https://a.org' },
])('else says to wait longer: %j', (server) => {
  expect(hint(server)).toBe('Raise startTimeout of mcpServers.x, or look at it.')
})
