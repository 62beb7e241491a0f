import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { HubOptions } from '../../../../core/src/options.ts'
import { examineServers, examineSources } from './doctor-checks.ts'

it('says what the config of a server refers to and is not set, and which did not answer', () => {
  const mcpServers = {
    a: { command: 'x', env: { T: '${env:NO_SUCH_VARIABLE}' } },
    b: { url: 'https://x.example', headers: { H: 'Bearer ${secret:gone}' } },
    c: { command: 'x', disabled: true, args: ['${env:NO_SUCH_VARIABLE}'] },
    d: { command: 'x' },
    e: { command: 'x' },
    f: { command: 'x' },
  }
  const problem = new ToolError('UPSTREAM_ERROR', 'It went away.')
  const findings = examineServers({ mcpServers }, [
    { name: 'd', state: 'down', tools: [], leftOut: [], problem },
    { name: 'e', state: 'connected', tools: ['mcp/e.x'], leftOut: [] },
    { name: 'f', state: 'connected', tools: ['mcp/f.x'], leftOut: [], changed: ['mcp/f.x', 'mcp/f.y'] },
  ])
  expect(findings.map(({ state }) => state)).toEqual(['broken', 'broken', 'good', 'weak', 'good', 'weak'])
  expect(findings[0]!.detail).toContain('env.T of the MCP server a needs the environment variable NO_SUCH_VARIABLE')
  expect(findings[1]!.detail).toContain('the secret gone')
  expect(findings[3]!.detail).toContain('It went away.')
  expect(findings[5]).toMatchObject({
    detail: 'f changed or added 2 tools since it was first seen',
    fix: expect.stringContaining('tool-hub mcp pin f'),
  })
})

it('says that nobody can sign in to a server when machines share the store and have no key', () => {
  onTestFinished(() => void vi.unstubAllEnvs())
  const examined = (
    mcpServers: HubOptions['mcpServers'],
    store: HubOptions = { database: { url: 'postgres://db.example/hub' } },
  ) => examineServers({ mcpServers, ...store }, []).filter(({ detail }) => detail.includes('TOOL_HUB_KEY'))
  const url = 'https://x.example'
  vi.stubEnv('TOOL_HUB_KEY', '')
  expect(examined({ a: { url } })).toMatchObject([{ state: 'weak', fix: expect.stringContaining('on all machines') }])
  expect(examined({ a: { url } }, {})).toEqual([])
  const others = { a: { command: 'x' }, b: { url, oauth: false as const }, c: { url, disabled: true } }
  expect(examined({ ...others, d: { url, headers: { authorization: 'Bearer x' } } })).toEqual([])
  vi.stubEnv('TOOL_HUB_KEY', '0123456789abcdef'.repeat(4))
  expect(examined({ a: { url } })).toEqual([])
})

it('says where other tools come from', () => {
  const findings = examineSources({ plugins: [{ name: 'p' }], data: '/nowhere', skills: ['/nowhere/skills'] })
  expect(findings.map(({ state, what }) => [state, what])).toEqual([
    ['good', 'plugins'],
    ['broken', 'skills'],
  ])
})

it('warns of code that the hub runs in a root that tools write to, and of none elsewhere', () => {
  const root = mkdtempSync(join(tmpdir(), 'tool-hub-doctor-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  writeFileSync(join(root, 'server.mjs'), '')
  const mcpServers = { mine: { command: 'node', args: ['server.mjs'], cwd: root } }
  const examined = (sandbox: HubOptions['sandbox']) => examineSources({ mcpServers, sandbox })
  expect(examined({ root })).toEqual([
    expect.objectContaining({ state: 'weak', detail: expect.stringContaining(join(root, 'server.mjs')) }),
  ])
  expect(examined({ roots: [{ path: root, mode: 'read' }] })).toEqual([])
})
