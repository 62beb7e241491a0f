import { randomBytes } from 'node:crypto'
import { type Clock, type CommandState, ToolError } from '@tool-hub/core'
import type { CommandCall } from '../command-call.ts'
import type { ManagedCommand } from './managed-command.ts'

/** A command that is being started. */
interface PendingStart {
  readonly call: CommandCall
  readonly settled: Promise<unknown>
  isCancelled: boolean
}

/** The commands that end with their call, and those that are being started. */
export class CallCommands {
  readonly #commands = new Set<ManagedCommand>()
  readonly #pending = new Set<PendingStart>()
  #isClosed = false

  /** Starts a command. If its call or run ends meanwhile, the command is ended too and the start fails. */
  async start(call: CommandCall, start: () => Promise<ManagedCommand>): Promise<ManagedCommand> {
    if (this.#isClosed) throw closed()
    const outcome = start()
    const pending = { call, settled: outcome.catch(() => {}), isCancelled: false }
    this.#pending.add(pending)
    try {
      const command = await outcome
      this.#commands.add(command)
      void command.ended().then(() => {
        if (!command.hasTemporaryFile) this.#commands.delete(command)
      })
    } catch (error) {
      throw pending.isCancelled ? closed(error) : error
    } finally {
      this.#pending.delete(pending)
    }
    if (pending.isCancelled) throw closed()
    return outcome
  }

  /** From now on, the command belongs to its run instead of its call. */
  release(command: ManagedCommand): void {
    this.#commands.delete(command)
  }

  endCall(callId: string): Promise<void> {
    return this.#end((call) => call.callId === callId)
  }

  endRun(run: string): Promise<void> {
    return this.#end((call) => call.run === run)
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#end(() => true)
  }

  async #end(isMeant: (call: CommandCall) => boolean): Promise<void> {
    const pending = [...this.#pending].filter(({ call }) => isMeant(call))
    for (const one of pending) one.isCancelled = true
    await this.#discard(isMeant)
    // Commands whose start completes only now are ended as well.
    await Promise.all(pending.map(({ settled }) => settled))
    await this.#discard(isMeant)
  }

  async #discard(isMeant: (call: CommandCall) => boolean): Promise<void> {
    const commands = [...this.#commands].filter(({ call }) => isMeant(call))
    for (const command of commands) this.#commands.delete(command)
    await Promise.all(commands.map((command) => command.discard()))
  }
}

function closed(cause?: unknown): ToolError {
  return new ToolError('ABORTED', 'The run was closed while its command was being started.', { cause })
}

/** A background command that was lost with an earlier hub. */
export interface LostCommand {
  readonly run: string
  readonly id: string
  readonly command: string
  readonly startedAt: string
}

const KEPT_MS = 30 * 60_000
const MAX_FINISHED = 64
const MAX_RUNNING = 32

/** The background commands; each is only visible to the run that started it. */
export class BackgroundCommands {
  readonly #clock: Clock
  readonly #runs = new Map<string, Map<string, ManagedCommand>>()
  readonly #lost = new Map<string, Map<string, CommandState>>()
  /** In the order of their end. */
  readonly #finished = new Map<ManagedCommand, () => void>()

  constructor(clock: Clock, lost: readonly LostCommand[] = []) {
    this.#clock = clock
    for (const command of lost) entryOf(this.#lost, command.run).set(command.id, lostState(command))
  }

  newId(run: string): string {
    return commandId((id) => this.#runs.get(run)?.has(id) === true || this.#lost.get(run)?.has(id) === true)
  }

  /** Adds a command that continues in the background. */
  add(command: ManagedCommand): void {
    const { run } = command.call
    const commands = entryOf(this.#runs, run)
    const running = [...commands.values()].filter(({ isRunning }) => isRunning).length
    if (command.isRunning && running >= MAX_RUNNING) throw tooMany(running)
    commands.set(command.id, command)
    void command.ended().then(() => this.#keepFinished(command))
  }

  find(run: string, id: string): ManagedCommand | undefined {
    return this.#runs.get(run)?.get(id)
  }

  list(run: string): CommandState[] {
    const commands = [...(this.#runs.get(run)?.values() ?? [])].map((command) => command.state())
    const started = commands.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt))
    return [...(this.#lost.get(run)?.values() ?? []), ...started]
  }

  remove(run: string, id: string): boolean {
    if (this.#lost.get(run)?.delete(id)) return true
    const command = this.find(run, id)
    if (!command || command.isRunning) return false
    this.#drop(command)
    return true
  }

  /** Ends and removes the background commands of a run. */
  async endRun(run: string): Promise<void> {
    const commands = [...(this.#runs.get(run)?.values() ?? [])]
    this.#lost.delete(run)
    await Promise.all(commands.map((command) => command.discard()))
    for (const command of commands) this.#drop(command)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((run) => this.endRun(run)))
  }

  #keepFinished(command: ManagedCommand): void {
    if (this.find(command.call.run, command.id) !== command) return
    const cancel = this.#clock.after(KEPT_MS, () => this.#drop(command), { background: true })
    this.#finished.set(command, cancel)
    const ofRun = [...this.#finished.keys()].filter(({ call }) => call.run === command.call.run)
    if (ofRun.length > MAX_FINISHED) this.#drop(ofRun[0]!)
  }

  #drop(command: ManagedCommand): void {
    const { run } = command.call
    this.#finished.get(command)?.()
    this.#finished.delete(command)
    const commands = this.#runs.get(run)
    commands?.delete(command.id)
    if (commands?.size === 0) this.#runs.delete(run)
    // An unfinished file that cannot be removed now is removed with the run's folder.
    command.discard().catch(() => undefined)
  }
}

function entryOf<T>(runs: Map<string, Map<string, T>>, run: string): Map<string, T> {
  const entry = runs.get(run) ?? new Map<string, T>()
  runs.set(run, entry)
  return entry
}

function lostState({ id, command, startedAt }: LostCommand): CommandState {
  return {
    id,
    command,
    cwd: '',
    sandbox: 'none',
    startedAt,
    status: 'lost',
    timedOut: false,
    durationMs: 0,
    isBackground: true,
    isWaiting: false,
    bytes: 0,
  }
}

function tooMany(running: number): ToolError {
  return new ToolError('CONFLICT', `This run already has ${running} commands in the background, which is the limit.`, {
    hint: 'Wait for one to end, or kill one that is not needed.',
  })
}

const ADJECTIVES =
  'able bold brave brisk calm clear cool crisp deft eager early fair fast fine fond free glad good grand green keen kind light lively loyal lucky mild neat nimble plain proud quick quiet ready sharp shy smart soft steady still sunny sure swift tidy warm wide wise young'.split(
    ' ',
  )
const ANIMALS =
  'ant badger bat bear beaver bee bison boar crab crane crow deer dove duck eagle elk falcon finch fox frog goat goose hare hawk heron horse ibis jay kite koala lark lion lynx mole moose moth mouse newt otter owl panda puma quail raven robin seal sheep snail stork swan tiger toad trout vole whale wolf wren'.split(
    ' ',
  )

/** A new, unused id that people can pronounce and models do not mix up: `calm-otter-3f2a`. */
export function commandId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const [adjective, animal, ...number] = randomBytes(4)
    const id = `${pick(ADJECTIVES, adjective!)}-${pick(ANIMALS, animal!)}-${Buffer.from(number).toString('hex')}`
    if (!isTaken(id)) return id
  }
}

function pick(words: readonly string[], byte: number): string {
  return words[byte % words.length]!
}
