import { describe, expect, it } from 'vitest'
import { changeServer, serversIn } from './edit-servers.ts'

const entry = { command: 'npx', args: ['-y', 'server'] }

describe('changeServer', () => {
  it('adds, replaces and removes a server in YAML, and leaves comments and order alone', () => {
    const text = '# mine\nversion: 1 # the first\nmcpServers:\n  # keep\n  a: { command: x }\nruns: ./runs\n'
    const added = changeServer('tool-hub.yaml', text, { key: 'mcpServers', name: 'b', entry })
    for (const kept of ['# mine', '# the first', '# keep', 'a: { command: x }', 'runs: ./runs'])
      expect(added).toContain(kept)
    expect(serversIn('tool-hub.yaml', added, 'mcpServers')).toEqual({ a: { command: 'x' }, b: entry })
    const replaced = changeServer('tool-hub.yaml', added, { key: 'mcpServers', name: 'a', entry: { url: 'https://x' } })
    expect(serversIn('tool-hub.yaml', replaced, 'mcpServers').a).toEqual({ url: 'https://x' })
    const removed = changeServer('tool-hub.yaml', added, { key: 'mcpServers', name: 'b', entry: undefined })
    expect(serversIn('tool-hub.yaml', removed, 'mcpServers')).toEqual({ a: { command: 'x' } })
  })

  it('takes the key away with the last server', () => {
    const text = 'version: 1\nmcpServers: { a: { command: x } }\n'
    expect(changeServer('c.yml', text, { key: 'mcpServers', name: 'a', entry: undefined })).toBe('version: 1\n')
  })

  it('changes JSON with comments and trailing commas where it must, and nowhere else', () => {
    const text = '{\n  // mine\n  "inputs": [],\n  "servers": {\n    "a": { "command": "x" },\n  },\n}\n'
    const added = changeServer('mcp.json', text, { key: 'servers', name: 'b', entry })
    expect(added).toContain('// mine')
    expect(serversIn('mcp.json', added, 'servers')).toEqual({ a: { command: 'x' }, b: entry })
    expect(changeServer('new.json', '', { key: 'servers', name: 'b', entry })).toBe(
      `${JSON.stringify({ servers: { b: entry } }, undefined, 2)}\n`,
    )
  })

  it('refuses what it cannot read, and what is code', () => {
    expect(() => changeServer('mcp.json', '{ "a": ', { key: 'servers', name: 'b', entry })).toThrow(/no JSON object/)
    expect(() => changeServer('mcp.json', '[]', { key: 'servers', name: 'b', entry })).toThrow(/no JSON object/)
    expect(() => changeServer('a.yaml', 'a: [', { key: 'mcpServers', name: 'b', entry })).toThrow(/cannot be read/)
    expect(() => changeServer('a.mjs', '', { key: 'mcpServers', name: 'b', entry })).toThrow(/cannot be changed/)
    expect(() => serversIn('mcp.json', '{"servers": 3}', 'servers')).toThrow(/no object/)
  })

  it('takes a name for a name, whatever it is', () => {
    const changed = changeServer('mcp.json', '{}', { key: 'servers', name: '__proto__', entry })
    expect(changed).toContain('"__proto__"')
    expect(Object.hasOwn(serversIn('mcp.json', '{}', 'constructor'), 'name')).toBe(false)
  })
})
