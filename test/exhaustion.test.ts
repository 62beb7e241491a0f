import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { ToolResult } from '../packages/core/src/call.ts'
import { CLI_MAIN } from './support/cli.ts'

// Resources of the machine are used up, and released.
vi.setConfig({ testTimeout: 600_000 })

const isRoot = process.getuid?.() === 0
const LIMIT = 1_024
const WAIT_MS = 120_000

let base: string
let page: Server
let service: RunningCli | undefined

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-exhausted-')))
  mkdirSync(join(base, 'work'))
  mkdirSync(join(base, 'kept'))
  writeFileSync(join(base, 'work', 'a.txt'), 'a line\n')
  writeFileSync(join(base, 'plugin.mjs'), PLUGIN)
  page = createServer((_, response) => response.end('a page'))
  await new Promise<void>((resolve) => page.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(base, 'tool-hub.yaml'), CONFIG)
})

afterEach(async () => {
  await service?.end()
  service = undefined
  page.closeAllConnections()
  page.close()
  rmSync(base, { recursive: true, force: true })
})

/** Every one of them loaded a part of the program with its first call. */
const CALLS = (): Readonly<Record<string, object>> => ({
  'core/exec.run': { argv: ['echo', 'hi'] },
  'test/echo': { text: 'x' },
  'core/util.json.select': { json: { a: 1 }, path: '$.a' },
  'core/util.template.render': { template: '{{a}}', data: { a: 1 } },
  'core/memory.recall': { query: 'anything' },
  'core/canvas': { action: 'present', canvas: 'notes', kind: 'markdown', content: '# hi' },
  'core/fs.readText': { path: 'a.txt' },
  'core/fs.writeText': { path: 'b.txt', text: 'new', overwrite: true },
  'core/fs.searchText': { root: '.', query: 'line' },
  'core/http.fetchText': { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}/` },
  'core/cron': { action: 'list' },
  'core/util.time.now': {},
})

it(
  'as many idle connections as there are descriptors keep out nobody who is there, and no tool breaks',
  async () => {
    service = await start()
    const sockets = Array.from({ length: LIMIT + 100 }, () => idle(service!.port))
    try {
      const settled = sockets.map((socket) => new Promise((done) => socket.once('close', done).once('connect', done)))
      await Promise.all(settled)
      await expect
        .poll(() => sockets.filter((socket) => socket.closed).length, { timeout: WAIT_MS })
        .toBeGreaterThan(500)
      expect(await service.callAll()).toEqual(all('ok'))
    } finally {
      for (const socket of sockets) socket.destroy()
    }
    expect(await service.ready()).toEqual([200, { ok: true }])
  },
  WAIT_MS,
)

it(
  'a moment without descriptors is reported and can be tried again; afterwards every tool works',
  async () => {
    service = await start()
    service.limitDescriptors(service.openDescriptors())
    const meanwhile = await service.callAll()
    expect(untyped(meanwhile)).toEqual({})
    expect(Object.values(meanwhile)).toContainEqual(expect.stringMatching(/^OUT_OF_RESOURCES/))
    // An answer of up to a second ago may be repeated.
    const exhausted = [503, expect.objectContaining({ ok: false, part: 'descriptors' })]
    await expect.poll(() => service!.ready(), { timeout: WAIT_MS }).toEqual(exhausted)
    service.limitDescriptors(LIMIT)
    expect(await service.callAll()).toEqual(all('ok'))
    await expect.poll(() => service!.ready(), { timeout: WAIT_MS }).toEqual([200, { ok: true }])
  },
  WAIT_MS,
)

it.skipIf(!isRoot)(
  'a moment without disk space is reported and can be tried again; afterwards every tool works',
  async () => {
    const kept = join(base, 'kept')
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', kept])
    try {
      service = await start()
      fill(join(kept, 'ballast'))
      const meanwhile = await service.callAll()
      expect(untyped(meanwhile)).toEqual({})
      expect(Object.values(meanwhile)).toContainEqual(expect.stringMatching(/^RECORDS_UNAVAILABLE/))
      rmSync(join(kept, 'ballast'))
      expect(await service.callAll()).toEqual(all('ok'))
      await service.end()
    } finally {
      execFileSync('umount', ['--lazy', kept])
    }
  },
  WAIT_MS,
)

/** The calls that neither worked nor ended with an error that says what ran out and that another try may work. */
function untyped(outcomes: Record<string, string>): Record<string, string> {
  const isTyped = (outcome: string) => /^(ok$|(OUT_OF_RESOURCES|RECORDS_UNAVAILABLE), try again: )/.test(outcome)
  return Object.fromEntries(Object.entries(outcomes).filter(([, outcome]) => !isTyped(outcome)))
}

function all(outcome: string): Record<string, string> {
  return Object.fromEntries(Object.keys(CALLS()).map((tool) => [tool, outcome]))
}

/** The real service in a process of its own, and an agent that is connected to it. */
class RunningCli {
  readonly port: number
  readonly #child: ChildProcessWithoutNullStreams
  readonly #token: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #ended: Promise<unknown>

  constructor(child: ChildProcessWithoutNullStreams, { url, token }: { url: string; token: string }) {
    this.#child = child
    this.port = Number(new URL(url).port)
    this.#token = token
    this.#ended = new Promise((resolve) => child.once('close', resolve))
  }

  /** Calls tools, every one unless others are given, and says how each call ended. */
  async callAll(calls = CALLS()): Promise<Record<string, string>> {
    const outcomes: Record<string, string> = {}
    for (const [tool, input] of Object.entries(calls)) {
      const path = `/v1/tools/${encodeURIComponent(tool)}/call`
      const [, answer] = await this.#ask('POST', path, JSON.stringify({ input }))
      const { ok, error } = answer as ToolResult
      outcomes[tool] = ok ? 'ok' : `${error.code}${error.retryable ? ', try again' : ''}: ${error.message}`
    }
    return outcomes
  }

  ready(): Promise<readonly [number, unknown]> {
    return this.#ask('GET', '/readyz')
  }

  limitDescriptors(most: number): void {
    execFileSync('prlimit', ['--pid', String(this.#child.pid), `--nofile=${most}:${LIMIT}`])
  }

  openDescriptors(): number {
    return readdirSync(`/proc/${this.#child.pid}/fd`).length
  }

  async end(): Promise<void> {
    this.#agent.destroy()
    this.#child.kill('SIGTERM')
    await this.#ended
  }

  #ask(method: string, path: string, body?: string): Promise<readonly [number, unknown]> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' }
    return new Promise((resolve, reject) => {
      const asked = request({ port: this.port, host: '127.0.0.1', method, path, headers, agent: this.#agent })
      asked.on('error', reject).on('response', async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve([response.statusCode!, JSON.parse(text)])
      })
      asked.end(body)
    })
  }
}

async function start(): Promise<RunningCli> {
  const words = ['serve', '--port', '0', '--json']
  // ulimit is of the shell that becomes node.
  const script = 'ulimit -n "$1"; shift; exec "$@"'
  const child = spawn('bash', ['-c', script, '-', String(LIMIT), process.execPath, CLI_MAIN, ...words], {
    cwd: base,
    env: { PATH: process.env.PATH, HOME: base, TMPDIR: base },
  })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const line = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk) => resolve(String(chunk)))
    child.once('close', () => reject(new Error(`It did not start: ${said}`)))
  })
  const running = new RunningCli(child, JSON.parse(line))
  expect(await running.ready()).toEqual([200, { ok: true }])
  // The agent has a run already.
  expect(await running.callAll({ 'core/util.time.now': {} })).toEqual({ 'core/util.time.now': 'ok' })
  return running
}

function idle(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  // Whoever is refused may see a reset.
  return socket.on('error', () => {}).resume()
}

/** Takes all the room there is, to the last byte. */
function fill(file: string): void {
  for (const size of [65_536, 4_096, 512, 1]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch {
      // Full for pieces of this size.
    }
  }
}

const CONFIG = `version: 1
plugins: [./plugin.mjs]
sandbox: { root: ./work, required: false, network: ["127.0.0.1"], privateRanges: ["127.0.0.0/8"] }
runs: ./kept/runs
data: ./kept/data
policy:
  - { allow: write:fs }
  - { allow: danger:destructive }
  - { allow: exec }
  - { allow: network }
  - { allow: core/canvas }
  - { allow: core/cron }
  - { allow: core/memory.recall }
`

const PLUGIN = `export default {
  name: 'test',
  tools: [{
    name: 'test/echo',
    description: 'Returns its input.',
    input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false },
    capabilities: [],
    execute: ({ text }) => text,
  }],
}
`
