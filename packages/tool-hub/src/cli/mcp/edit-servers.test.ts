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

  it('leaves neighbours, indentation and line ends as they are', () => {
    const cases = [
      ['{\n\t"mcpServers": {\n\t\t"a": { "command": "x" }\n\t}\n}\n', '"x" },\n\t\t"b": {\n\t\t\t"command": "npx",'],
      ['{\r\n    "mcpServers": {}\r\n}\r\n', '{\r\n    "mcpServers": {\r\n        "b": {\r\n            "command"'],
      ['{\n  "mcpServers": { "a": {"command":"x"} }, "other": [1,2]\n}', '{"command":"x"}, "b": {"command":"npx"'],
      ['{"numStartups":3}', '{"numStartups":3, "mcpServers": {"b":{"command":"npx"'],
      ['{\n  "mcpServers": {\n    // none yet\n  }\n}\n', '// none yet'],
      [
        '{\n  "mcpServers": {\n    "b": { "command": "old" },\n    "c": {"url":"u"}\n  }\n}\n',
        '    },\n    "c": {"url":"u"}\n',
      ],
    ] as const
    for (const [text, wanted] of cases) {
      const changed = changeServer('mcp.json', text, { key: 'mcpServers', name: 'b', entry })
      expect(changed).toContain(wanted)
      expect(serversIn('mcp.json', changed, 'mcpServers').b).toEqual(entry)
    }
    const yaml = 'a:   [1,2]     # aligned\nmcpServers:\n    one: { command: x } # first\n\n# after\nz: 1\n'
    const changed = changeServer('c.yaml', yaml, { key: 'mcpServers', name: 'b', entry })
    expect(changed).toContain('a:   [1,2]     # aligned\nmcpServers:\n    one: { command: x } # first\n    b:\n')
    expect(changed).toContain('\n\n# after\nz: 1\n')
    expect(changeServer('c.yaml', 'a:   1 # x\n', { key: 'mcpServers', name: 'b', entry })).toContain('a:   1 # x\nmcp')
  })

  it('tells where JSON is broken, and what servers are not', () => {
    const change = { key: 'mcpServers', name: 'b', entry }
    expect(() => changeServer('mcp.json', '{\n  "a": 1\n  "b": 2\n}', change)).toThrow('mcp.json:3:3 is no JSON object')
    for (const file of ['mcp.json', 'c.yaml'])
      expect(() => changeServer(file, '{"mcpServers": [{"command": "x"}]}', change)).toThrow('is a list, no object')
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
