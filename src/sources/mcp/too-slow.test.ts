import { expect, it } from 'vitest'
import type { McpServer } from '../../options.ts'
import { tooSlow } from './too-slow.ts'

const hint = (server: McpServer) => tooSlow('x', server, 100, 'look at it.').fix.hint

it('says that a program without network cannot download what it should run', () => {
  expect(hint({ command: 'npx', sandbox: true })).toMatch(/no network, so npx cannot download/)
  expect(hint({ command: '/usr/bin/uvx', sandbox: { hosts: [] } })).toMatch(/uvx cannot download/)
})

it('else says to wait longer', () => {
  const servers = [
    { command: 'npx' },
    { command: 'npx', sandbox: { hosts: ['a.org'] } },
    { command: 'node', sandbox: true },
  ]
  for (const server of [...servers, { url: 'https://a.org' }])
    expect(hint(server)).toBe('Raise startTimeout of mcpServers.x, or look at it.')
})
