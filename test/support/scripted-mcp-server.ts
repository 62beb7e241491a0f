import { PassThrough, Writable } from 'node:stream'
import type { ProgramEnd, RunningProgram } from '../../packages/core/src/commands.ts'
import type { SourceHost } from '../../packages/core/src/source.ts'
import { type FakeClock, fakeClock } from '../../packages/testing/src/fake-clock.ts'
import { sourceStore } from './source-store.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** A message that the server gets. */
export interface Received {
  readonly id?: number | string
  readonly method?: string
  // biome-ignore lint/suspicious/noExplicitAny: whatever the client sent.
  readonly params?: any
  readonly result?: unknown
}

/** What the server does. */
export interface Script {
  readonly era?: 'modern' | 'legacy'
  readonly capabilities?: object
  /** Sees each start; with `false` this one never answers. */
  readonly onStart?: (program: ScriptedProgram, start: number) => boolean | undefined
  /** The result or error of a request; `undefined` leaves it without an answer. */
  readonly reply?: (received: Received, server: ScriptedProgram) => object | undefined
}

/** One start of the server, over pipes inside this process. */
export interface ScriptedProgram extends RunningProgram {
  readonly received: Received[]
  send(message: object): void
  say(text: string): void
  exit(code: number): void
}

/** A host whose programs are an MCP server that follows a script, so that tests control every message and the time. */
export function scriptedHost(script: Script, others: Partial<SourceHost> = {}) {
  const clock = fakeClock()
  const timers: { readonly ms: number; readonly background: boolean | undefined }[] = []
  const { after } = clock
  clock.after = (ms, callback, options) => {
    timers.push({ ms, background: options?.background })
    return after(ms, callback)
  }
  const programs: ScriptedProgram[] = []
  const warnings: string[] = []
  const data = others.data ?? temporaryFolder('scripted-mcp')
  const host = {
    ...{ data, store: others.store ?? sourceStore(data) },
    clock,
    secret: () => undefined,
    hide: () => {},
    redact: (text: string) => text,
    warn: (text: string) => void warnings.push(text),
    offer: () => [],
    expect: () => {},
    startProgram: async () => {
      const program = startScripted(script, () => isAnswering)
      const start = programs.push(program)
      const isAnswering = script.onStart?.(program, start) ?? true
      return program
    },
    ...others,
  } as unknown as SourceHost & { readonly clock: FakeClock }
  return { host, clock, timers, programs, warnings }
}

function startScripted(
  { era = 'legacy', capabilities = { tools: {} }, reply }: Script,
  isAnswering: () => boolean,
): ScriptedProgram {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  let end: (end: ProgramEnd) => void = () => {}
  const ended = new Promise<ProgramEnd>((resolve) => (end = resolve))
  const finish = (how: ProgramEnd) => {
    stdout.end()
    stderr.end()
    end(how)
  }
  const program: ScriptedProgram = {
    pid: 1,
    sandbox: 'none',
    received: [],
    stdin: new Writable({
      write(chunk, _, done) {
        done()
        for (const line of String(chunk).trim().split('\n')) receive(JSON.parse(line))
      },
    }),
    stdout,
    stderr,
    ended,
    send: (message) => void stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    say: (text) => void stderr.write(text),
    exit: (code) => finish({ code, signal: null }),
    stop: async () => finish({ code: null, signal: 'SIGTERM' }),
  }
  return program

  function receive(message: Received): void {
    program.received.push(message)
    if (message.id === undefined || message.method === undefined || !isAnswering()) return
    const answer = greet(message.method) ?? reply?.(message, program)
    // Behind what the script has sent, as a program would.
    if (answer) setImmediate(() => program.send({ id: message.id, ...answer }))
  }

  function greet(method: string): object | undefined {
    const serverInfo = { name: 'scripted', version: '7' }
    if (method === 'initialize') return { result: { protocolVersion: '2025-06-18', capabilities, serverInfo } }
    if (method !== 'server/discover') return undefined
    if (era === 'legacy') return { error: { code: -32601, message: 'Method not found' } }
    const _meta = { 'io.modelcontextprotocol/serverInfo': serverInfo }
    const known = { supportedVersions: ['2026-07-28'], resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
    return { result: { ...known, capabilities, _meta } }
  }
}
