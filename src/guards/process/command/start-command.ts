import type { Clock } from '../../../clock.ts'
import type { CommandLine, CommandRequest } from '../../../contracts/commands.ts'
import { commandValue } from '../../../value/command-value.ts'
import { escapeLine } from '../../../value/escape-text.ts'
import type { PlaceKeeper, RunningCommand } from '../../protected/place-keeper.ts'
import type { Findings } from '../../protected/survey.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { CommandCall, CommandReach } from '../command-call.ts'
import { checkAdditions } from '../jail/check-additions.ts'
import type { Jail } from '../jail/jail.ts'
import type { Started, Starter } from '../start/started.ts'
import { checkRequest } from './check-request.ts'
import { commandWords } from './command-words.ts'
import type { DiskWatch, WatchedCommand } from './disk-watch.ts'
import { OwnedCommand, type OwnedCommandOptions } from './owned-command.ts'

/** What the guard has for every command. */
export interface CommandRoom {
  readonly clock: Clock
  readonly starter: Starter
  readonly outputBytes: number
  /** The real folder to work in. */
  place(cwd: string | undefined): string
  /** A jail that closes what was found in the roots. */
  jail(found: Findings, proxySocket: string | undefined): Promise<Jail>
  /** What a command in such a jail can see and change. */
  reach(found: Findings): Promise<CommandReach>
  /** The way to the network for one command, where it is granted. */
  proxy(call: CommandCall): Promise<CommandProxy | undefined>
  /** Keeps protected places as they are while commands run. */
  readonly places: PlaceKeeper
  /** Ends commands that fill the disk. */
  readonly disk: DiskWatch
  newId(run: string): string
  /** Makes a command of the background findable for its run. */
  register(command: OwnedCommand): void
}

/** A proxy that serves one command. */
export interface CommandProxy {
  readonly socket: string
  close(): Promise<void>
}

const LONGEST_SHOWN = 1_000

/** Starts what policy decided on, in its jail. What was judged is what runs: the request is read once. */
export async function startCommand(
  room: CommandRoom,
  call: CommandCall,
  request: CommandRequest,
): Promise<OwnedCommand> {
  const signal = call.signal()
  throwIfAborted(signal)
  const asked = copyOf(request)
  checkRequest(asked)
  checkAdditions(asked.env ?? {})
  const value = commandValue(asked)
  const cwd = room.place(asked.cwd)
  call.permits(value, { cwd, env: Object.keys(asked.env ?? {}) })
  const ready = call.beforeStart?.()
  // Who waits for it hears of its failure; until then nobody must.
  ready?.catch(() => {})
  const proxy = await room.proxy(call)
  let started: Started | undefined
  const running: RunningCommand = {
    onSetAside: (done) => call.onSetAside?.(done),
    stop: () => void started?.stop().catch(() => undefined),
  }
  let onLeft: (() => void) | undefined
  try {
    const [found, disk] = await Promise.all([room.places.enter(running), room.disk.before()])
    onLeft = await call.onReach?.(await room.reach(found))
    const jail = await room.jail(found, proxy?.socket)
    const startedMs = Date.now()
    const pty = asked.pty === true
    const env = { ...(pty && { TERM: 'xterm-256color' }), ...asked.env }
    const { mergeStderr } = asked
    const order = { jail, words: commandWords(asked), cwd, env, pty, mergeStderr, ready }
    started = await startDuring(signal, (starting) => room.starter.start(order, starting))
    room.starter.prepare(jail)
    const { pid } = started
    const watchDisk = (stop: WatchedCommand['stop']) => room.disk.watch({ pid, stop }, disk, startedMs)
    return own(room, { call, asked, started, watchDisk, jail, cwd, command: shown(value), proxy, running, onLeft })
  } catch (error) {
    await leave(room, running, proxy, onLeft)
    throw error
  }
}

/** The call can end the start; once it is done, what ends the command is the command's matter: it may outlive its call. */
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

interface Begun {
  readonly call: CommandCall
  readonly asked: CommandRequest
  readonly started: Started
  readonly watchDisk: OwnedCommandOptions['watchDisk']
  readonly jail: Jail
  readonly cwd: string
  readonly command: string
  readonly proxy: CommandProxy | undefined
  readonly running: RunningCommand
  readonly onLeft: (() => void) | undefined
}

function own(room: CommandRoom, begun: Begun): OwnedCommand {
  const { call, asked, started, watchDisk, jail, cwd, command, proxy, running, onLeft } = begun
  const { timeoutMs, stdin, background = false, pty = false } = asked
  const id = room.newId(call.run)
  return new OwnedCommand({
    id,
    command,
    cwd,
    sandbox: jail.level,
    started,
    watchDisk,
    call,
    clock: room.clock,
    timeoutMs: Math.min(timeoutMs, call.maxMs ?? timeoutMs),
    // Nobody could answer a command of the foreground: it reads the end at once instead of waiting for ever.
    stdin: stdin ?? (background || pty ? undefined : ''),
    outputBytes: room.outputBytes,
    register: (owned) => room.register(owned),
    release: () => leave(room, running, proxy, onLeft),
  })
}

async function leave(
  { places }: CommandRoom,
  running: RunningCommand,
  proxy: CommandProxy | undefined,
  onLeft: (() => void) | undefined,
): Promise<void> {
  try {
    await places.leave(running)
  } finally {
    await proxy?.close()
    // After what it made at protected places was renamed: that is labelled, too.
    onLeft?.()
  }
}

/** Tools are code of others: what they hold of the request, they could change between the judgement and the start. */
function copyOf(request: CommandRequest): CommandRequest {
  const { argv, command, env, ...rest } = request
  const line = { argv: Array.isArray(argv) ? [...argv] : argv, command } as CommandLine
  return { ...rest, ...line, ...(env && { env: { ...env } }) }
}

function shown(value: string): string {
  const line = escapeLine(value)
  return line.length > LONGEST_SHOWN ? `${line.slice(0, LONGEST_SHOWN)}…` : line
}
