import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import {
  type BaseContext,
  type Clock,
  messageOf,
  type ProgramAccess,
  type RunningProgram,
  type SourceHost,
  ToolError,
} from '@tool-hub/core'
import { escapeLine, withStop } from '@tool-hub/core/lib'
import { ownFile } from '@tool-hub/sandbox/system'
import { withinTime } from '../folder-source.ts'
import { CallBridge } from './call-bridge.ts'
import { type ChildMessage, parseMessage, type Thrown } from './messages.ts'

/** A plugin file and how to run it. */
export interface PluginProgram {
  readonly label: string
  /** Absolute path. */
  readonly file: string
  readonly options: Readonly<Record<string, unknown>> | undefined
  readonly access: ProgramAccess
  readonly cwd: string
  /** Where Node looks for the packages that it imports, nearest first. */
  readonly packageFolders: readonly string[]
}

/** What a tool returned, and what a model should see of it. */
export interface PluginOutcome {
  readonly value?: unknown
  readonly content?: unknown
}

interface OpenCall {
  readonly bridge: CallBridge
  readonly resolve: (outcome: PluginOutcome) => void
  readonly reject: (error: Error) => void
}

/** The file that runs in the sandbox. */
const CHILD_MAIN = fileURLToPath(ownFile('adapters/sources/plugins/isolated/child-main.mjs'))

const LOAD_MS = 15_000
const MAX_LINE_BYTES = 10_000_000
/** A process that does not read has hung. */
const MAX_UNREAD_BYTES = 64_000_000
/** Messages of ended calls, which a tool that ignores its signal may send for a while. */
const MAX_STRAYS = 10_000
const STDERR_CHARS = 500
/** How long an aborted tool has to finish, and its process to answer at all. */
const GRACE_MS = 900
const PONG_MS = 2_000

/** One process that runs a plugin. Every message is checked; if the process breaks, only its own calls end. */
export class PluginProcess {
  readonly #program: RunningProgram
  readonly #label: string
  readonly #clock: Clock
  readonly #calls = new Map<number, OpenCall>()
  #onFirst: { resolve(tools: unknown[]): void; reject(error: Error): void } | undefined
  #onPong: (() => void) | undefined
  /** The process did not answer while an aborted tool had time to stop. */
  #isSilent = false
  #nextCall = 1
  #strays = 0
  #stderr = ''
  #end: ToolError | undefined

  /** Starts a process and loads the plugin in it. */
  static async start(program: PluginProgram, host: Pick<SourceHost, 'startProgram' | 'clock'>) {
    const { cwd, access, label, file, options } = program
    const running = await host.startProgram({ argv: [process.execPath, CHILD_MAIN], cwd, access })
    const child = new PluginProcess(running, label, host.clock)
    const loading = new Promise<unknown[]>((resolve, reject) => {
      child.#onFirst = { resolve, reject }
      child.#send({ type: 'load', file, options })
    })
    try {
      const late = () => new Error(`it did not load within ${LOAD_MS} ms.`)
      return { child, described: await withinTime(loading, LOAD_MS, host.clock, late) }
    } catch (error) {
      await child.stop(0)
      const said = escapeLine(child.#stderr.trim())
      throw new Error(said === '' ? messageOf(error) : `${withStop(messageOf(error))} It said: ${said}`)
    }
  }

  constructor(program: RunningProgram, label: string, clock: Clock) {
    this.#program = program
    this.#label = label
    this.#clock = clock
    readBoundedLines(program.stdout, MAX_LINE_BYTES, {
      onLine: (line) => this.#receive(line),
      onTooLong: () => this.#fail(`said more than ${MAX_LINE_BYTES} bytes in one line`),
    })
    program.stderr.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('utf8')).slice(-STDERR_CHARS)
    })
    // Writing to a process that is gone fails; its end is reported elsewhere.
    for (const stream of [program.stdin, program.stdout, program.stderr]) stream.on('error', () => {})
    void program.ended.then(({ code, signal }) => this.#fail(`ended (${signal ?? `exit code ${code}`})`))
  }

  get isSandboxed(): boolean {
    return this.#program.sandbox !== 'none'
  }

  get isAlive(): boolean {
    return this.#end === undefined
  }

  /** Executes a call of one of its tools. */
  call(tool: string, input: unknown, ctx: BaseContext): Promise<PluginOutcome> {
    if (this.#end) return Promise.reject(this.#end)
    const call = this.#nextCall++
    const { callId, run, maxOutputChars, constraints, signal } = ctx
    const executing = new Promise<PluginOutcome>((resolve, reject) => {
      this.#calls.set(call, { bridge: new CallBridge(ctx), resolve, reject })
      this.#send({
        type: 'call',
        call,
        tool,
        input,
        context: { callId, run, now: ctx.now(), maxOutputChars, constraints },
      })
    })
    const stop = () => this.#abort(call, signal)
    signal.addEventListener('abort', stop, { once: true })
    return executing.finally(() => {
      signal.removeEventListener('abort', stop)
      this.#calls.delete(call)
    })
  }

  async stop(graceMs?: number): Promise<void> {
    this.#fail('was stopped', this.#isSilent ? 0 : graceMs)
    await this.#program.ended
  }

  /** Aborts the tool and gives it a moment; a process that does not even answer is ended a little later. */
  #abort(call: number, { reason }: AbortSignal): void {
    const error = ToolError.is(reason) ? reason : new ToolError('ABORTED', 'The call was stopped.')
    this.#send({ type: 'abort', call, reason: shapeOf(error) })
    this.#ping()
    const giveUp = () => {
      this.#isSilent = this.#onPong !== undefined
      this.#calls.get(call)?.reject(error)
    }
    this.#clock.after(GRACE_MS, giveUp, { background: true })
  }

  #ping(): void {
    if (this.#onPong || this.#end) return
    const giveUp = () => this.#fail(`did not answer for ${PONG_MS} ms`)
    const cancel = this.#clock.after(PONG_MS, giveUp, { background: true })
    this.#onPong = () => {
      cancel()
      this.#onPong = undefined
      this.#isSilent = false
    }
    this.#send({ type: 'ping', id: 1 })
  }

  #receive(line: string): void {
    if (this.#end) return
    const message = parseMessage(line)
    switch (message.type) {
      case 'ready':
      case 'failed':
        this.#loaded(message)
        break
      case 'pong':
        this.#onPong?.()
        break
      case 'unknown':
        this.#fail('wrote something that is not a message')
        break
      default:
        this.#receiveForCall(message, Buffer.byteLength(line))
    }
  }

  #receiveForCall(message: Exclude<ChildMessage, { type: 'ready' | 'failed' | 'pong' }>, bytes: number): void {
    const open = this.#calls.get(message.call)
    if (!open) this.#ignore()
    else if (message.type === 'result') open.resolve(message)
    else if (message.type === 'error') open.reject(errorOf(message.error))
    else if (message.type === 'use') void this.#use(open.bridge, message)
    else this.#report(open, message, bytes)
  }

  #report(
    { bridge, reject }: OpenCall,
    { method, args }: Extract<ChildMessage, { type: 'report' }>,
    bytes: number,
  ): void {
    try {
      if (!bridge.report(method, args, bytes)) this.#fail('sent more reports, or other ones, than a tool may')
    } catch (error) {
      // In this process the error would have been thrown where the tool was called.
      reject(error as Error)
    }
  }

  #loaded(message: Extract<ChildMessage, { type: 'ready' | 'failed' }>): void {
    const first = this.#onFirst
    this.#onFirst = undefined
    if (!first) this.#fail('said twice what its tools are')
    else if (message.type === 'ready') first.resolve(message.tools)
    else first.reject(new Error(message.message))
  }

  #ignore(): void {
    if (++this.#strays > MAX_STRAYS) this.#fail('spoke of calls that are over, or never were')
  }

  async #use(bridge: CallBridge, { call, id, method, args }: Extract<ChildMessage, { type: 'use' }>): Promise<void> {
    try {
      this.#send({ type: 'answer', call, id, ok: true, value: await bridge.use(method, args) })
    } catch (error) {
      this.#send({ type: 'answer', call, id, ok: false, error: shapeOf(error) })
    }
  }

  #send(message: object): void {
    if (this.#end) return
    this.#program.stdin.write(`${JSON.stringify(message)}\n`)
    if (this.#program.stdin.writableLength > MAX_UNREAD_BYTES) this.#fail('does not listen')
  }

  #fail(what: string, graceMs = 0): void {
    if (this.#end) return
    this.#onPong?.()
    this.#end = new ToolError('UPSTREAM_ERROR', `The process of the plugin ${this.#label} ${what}.`, {
      hint: 'Call again: it is started anew. When it keeps failing, look at the plugin.',
      details: { stderr: this.#stderr },
    })
    this.#onFirst?.reject(new Error(`its process ${what}.`))
    for (const { reject } of this.#calls.values()) reject(this.#end)
    // Its end is awaited through `ended`.
    this.#program.stop({ graceMs }).catch(() => {})
  }
}

/** What a tool threw, as if it had been thrown here. */
function errorOf({ code, message, stack, fix, retryable, data }: Thrown): Error {
  if (code !== undefined) return new ToolError(code, message, { fix, retryable, data })
  return Object.assign(new Error(message), stack ? { stack } : {})
}

function shapeOf(error: unknown): object {
  if (!ToolError.is(error)) return { code: 'INTERNAL', message: messageOf(error) }
  const { code, message, fix, retryable } = error
  return { code, message, fix, retryable }
}

/** Calls back for every whole line of a stream; a line over the limit ends it with `onTooLong`. */
function readBoundedLines(
  stream: Readable,
  maxBytes: number,
  { onLine, onTooLong }: { readonly onLine: (line: string) => void; readonly onTooLong: () => void },
): void {
  let pieces: Buffer[] = []
  let bytes = 0
  const take = (chunk: Buffer) => {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      pieces.push(chunk.subarray(start, end))
      const line = Buffer.concat(pieces).toString('utf8')
      pieces = []
      bytes = 0
      start = end + 1
      onLine(line)
    }
    pieces.push(chunk.subarray(start))
    bytes += chunk.length - start
    if (bytes <= maxBytes) return
    stream.off('data', take)
    stream.resume()
    pieces = []
    onTooLong()
  }
  stream.on('data', take)
}
