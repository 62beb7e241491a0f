import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { addServer } from './add-server.ts'
import { serversIn } from './edit-servers.ts'
import { importServers } from './import-servers.ts'

let folder: string
let config: string
let said: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tool-hub-import-'))
  config = join(folder, 'tool-hub.yaml')
  said = ''
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest: unknown[]) => {
      said += text
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    })
})

afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

const servers = () => serversIn(config, readFileSync(config, 'utf8'), 'mcpServers')

function write(name: string, value: unknown): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(value))
  return file
}

it('takes over servers without rights and secrets, and says so and what is left to do', async () => {
  const from = write('other.json', {
    mcpServers: {
      a: { command: 'npx', args: ['--api-key', 'hunter2'], trust: true, sandbox: false, autoApprove: ['x'] },
      b: { url: 'https://me:pw@x.example/mcp', oauth: { clientId: 'i', clientSecret: 's3' } },
      c: { command: 'x', sandbox: { writable: ['/'] }, env: { T: '${input:my-token}' } },
      tool_hub: { command: 'npx', args: ['-y', 'tool-hub@1.0.0', 'mcp'] },
    },
  })
  await importServers(from, { config })
  expect(servers()).toEqual({
    a: { command: 'npx', args: ['--api-key', '${env:A_API_KEY}'] },
    b: { url: 'https://${env:B_USER}@x.example/mcp', oauth: { clientId: 'i' } },
    c: { command: 'x', sandbox: true, env: { T: '${env:MY_TOKEN}' } },
  })
  for (const told of ['a: not copied: trust, autoApprove, sandbox: false', 'oauth.clientSecret', 'set A_API_KEY'])
    expect(said).toContain(told)
  expect(said).toMatch(new RegExp(`Read: ${from}\\. The servers are still in there`))
  expect(said).not.toMatch(/hunter2|me:pw|s3/)
})

it('leaves out what is not a server, says why, and shows nothing that drives a terminal', async () => {
  const odd = { 'a b': { command: 'x' }, 'n\u001b[31m': {}, list: [], nul: null, none: {}, num: { command: 3 } }
  await importServers(write('odd.json', { mcpServers: { ...odd, good: { command: 'x' } } }), { config })
  expect(Object.keys(servers())).toEqual(['good'])
  expect(said).not.toContain('\u001b')
  for (const told of [
    '"a b" cannot be its name',
    'it is a list',
    'neither a command nor a url',
    'must be a text, not 3',
  ])
    expect(said).toContain(told)
  await expect(importServers(write('l.json', { mcpServers: [] }), { config })).rejects.toThrow('is a list')
  await expect(importServers(join(folder, 'nowhere.json'), { config })).rejects.toThrow('does not exist')
})

it('adds no secret by hand either, and tells what to write instead', async () => {
  const cases = [
    [['x', '--token', 'hunter2'], {}, "'${env:D_TOKEN}'"],
    [[], { url: 'https://x.example/mcp?key=abc' }, "--url 'https://x.example/mcp?key=${env:D_KEY}'"],
    [[], { url: 'https://x.example', header: ['Authorization=Bearer abc'] }, 'Authorization=Bearer ${env:D_AUTH'],
    [['x'], { env: ['API_TOKEN=abc${X}'] }, '--env '],
  ] as const
  for (const [words, flags, hint] of cases)
    await expect(addServer('d', [...words], { ...flags, config })).rejects.toMatchObject({
      message: expect.stringContaining('looks like a secret'),
      hint: expect.stringContaining(hint),
    })
  await expect(addServer('d', [], { url: 'x', config })).rejects.toMatchObject({
    hint: expect.stringContaining('https:'),
  })
  expect(existsSync(config)).toBe(false)
  await addServer('d', ['x', '--token', '${env:T}'], { config })
  expect(servers()).toEqual({ d: { command: 'x', args: ['--token', '${env:T}'] } })
})
