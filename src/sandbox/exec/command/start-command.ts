import { type Clock, type CommandRequest, commandValue, throwIfAborted } from '../../../core/index.ts'
import { escapeLine } from '../../../lib/index.ts'
import type { KeptCommand, PlaceKeeper } from '../../protected/place-keeper.ts'
import type { SurveyFindings } from '../../protected/survey.ts'
import type { CommandCall, CommandReach } from '../command-call.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import type { CommandProcess } from '../start/sandbox-handle.ts'
import type { Starter } from '../start/starter.ts'
import { checkCommandRequest, checkVariables, commandArgv, copyRequest } from './command-request.ts'
import type { DiskWatch } from './disk-watch.ts'
import { ManagedCommand } from './managed-command.ts'

/** What the guard provides for every command. */
export interface CommandServices {
  readonly clock: Clock
  readonly starter: Starter
  readonly outputBytes: number
  /** The real folder to work in. */
  resolveFolder(cwd: string | undefined): string
  /** A sandbox that closes what was found in the roots. */
  buildSandbox(found: SurveyFindings, proxySocket: string | undefined): Promise<SandboxLaunch>
  /** What a command in such a sandbox can see and change. */
  reach(found: SurveyFindings): Promise<CommandReach>
  /** The proxy for one command, if the network is granted. */
  openProxy(call: CommandCall): Promise<CommandProxy | undefined>
  /** Keeps protected places as they are while commands run. */
  readonly places: PlaceKeeper
  /** Ends commands that fill the disk. */
  readonly disk: DiskWatch
  newId(run: string): string
  /** Makes a background command findable for its run. */
  register(command: ManagedCommand): void
}

/** A proxy that serves one command. */
export interface CommandProxy {
  readonly socket: string
  close(): Promise<void>
}

const MAX_SHOWN_LENGTH = 1_000

/** Starts what policy decided on, in its sandbox. The request is read once, so what was decided on is what runs. */
export async function startCommand(
  services: CommandServices,
  call: CommandCall,
  originalRequest: CommandRequest,
): Promise<ManagedCommand> {
  const signal = call.signal()
  throwIfAborted(signal)
  const request = copyRequest(originalRequest)
  checkCommandRequest(request)
  checkVariables(request.env ?? {})
  const value = commandValue(request)
  const cwd = services.resolveFolder(request.cwd)
  call.permits(value, { cwd, env: Object.keys(request.env ?? {}) })
  const ready = call.beforeStart?.()
  // The starter awaits it and reports its failure; until then, a rejection must not count as unhandled.
  ready?.catch(() => {})
  const proxy = await services.openProxy(call)
  let process: CommandProcess | undefined
  const running: KeptCommand = {
    onSetAside: (done) => call.onSetAside?.(done),
    stop: () => void process?.stop().catch(() => undefined),
  }
  let onLeft: (() => void) | undefined
  const release = async () => {
    try {
      await services.places.leave(running)
    } finally {
      await proxy?.close()
      // After what it created at protected places was renamed: that is labelled, too.
      onLeft?.()
    }
  }
  try {
    const [found, disk] = await Promise.all([services.places.enter(running), services.disk.before()])
    onLeft = await call.onReach?.(await services.reach(found))
    const sandbox = await services.buildSandbox(found, proxy?.socket)
    const startedMs = Date.now()
    const { background, stdin, mergeStderr, timeoutMs } = request
    const pty = request.pty === true
    const env = { ...(pty && { TERM: 'xterm-256color' }), ...request.env }
    const start = { sandbox, words: commandArgv(request), cwd, env, pty, mergeStderr, ready }
    const started = await startDuring(signal, (starting) => services.starter.start(start, starting))
    process = started
    services.starter.prepare(sandbox)
    return new ManagedCommand({
      id: services.newId(call.run),
      command: shorten(value),
      cwd,
      sandbox: sandbox.level,
      process: started,
      watchDisk: (stop) => services.disk.watch({ pid: started.pid, stop }, disk, startedMs),
      call,
      clock: services.clock,
      timeoutMs: Math.min(timeoutMs, call.maxMs ?? timeoutMs),
      // Nobody could answer a foreground command: it reads end of file immediately instead of waiting forever.
      stdin: stdin ?? (background || request.pty ? undefined : ''),
      outputBytes: services.outputBytes,
      register: (command) => services.register(command),
      release,
    })
  } catch (error) {
    await release()
    throw error
  }
}

/** The call can abort the start. Afterwards, the command itself follows its call, which it may outlive. */
async function startDuring<T>(signal: AbortSignal, start: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const starting = new AbortController()
  const stop = () => starting.abort(signal.reason)
  signal.addEventListener('abort', stop)
  try {
    return await start(starting.signal)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function shorten(value: string): string {
  const line = escapeLine(value)
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line
}
