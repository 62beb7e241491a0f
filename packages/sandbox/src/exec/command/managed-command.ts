import {
  type Artifact,
  type Clock,
  type CommandOutput,
  type CommandState,
  type LogPage,
  messageOf,
  type RunningCommand,
  type SandboxLevel,
  ToolError,
  throwIfAborted,
} from '@tool-hub/core'
import type { CommandCall } from '../command-call.ts'
import { KeptOutput } from '../output/kept-output.ts'
import { LiveOutput, type OutputListener, OutputPipe } from '../output/output-pipe.ts'
import type { Exit } from '../start/protocol.ts'
import type { CommandProcess } from '../start/sandbox-handle.ts'
import { CommandInput, PromptDetector, type WaitLimits, waitUntil } from './command-input.ts'
import type { DiskOveruse } from './disk-watch.ts'

/** A command that was just started, and its settings. */
export interface ManagedCommandOptions {
  readonly id: string
  /** As one line, for display. */
  readonly command: string
  readonly cwd: string
  readonly sandbox: SandboxLevel
  readonly process: CommandProcess
  /** Watches what it adds to the disk, and ends it through `stop`; returns a function that ends the watch. */
  readonly watchDisk: (stop: (why: DiskOveruse) => void) => () => void
  readonly call: CommandCall
  readonly clock: Clock
  readonly timeoutMs: number
  /** Undefined: the input stays open. */
  readonly stdin: string | undefined
  readonly outputBytes: number
  readonly tailBytes?: number
  /** Makes it findable; throws if there are too many. */
  readonly register: (command: ManagedCommand) => void
  /** Releases what was opened for this command. */
  readonly release: () => Promise<void>
}

/** Why the hub ended it, apart from an abort or a kill. */
interface StopReason {
  readonly timedOut?: boolean
  readonly overuse?: DiskOveruse
}

type State =
  | { readonly name: 'running' }
  | ({ readonly name: 'stopping' } & StopReason)
  | ({ readonly name: 'ended'; readonly exit: Exit; readonly endedAt: number } & StopReason)

/** More than 30,000 characters in any script, so that only output that a model does not get whole is cut. */
const TAIL_BYTES = 96_000

/** Owns a command from its start until nobody needs its output any more. */
export class ManagedCommand implements RunningCommand {
  readonly id: string
  readonly call: CommandCall
  readonly #options: ManagedCommandOptions
  readonly #startedAt: number
  readonly #input: CommandInput
  readonly #kept: KeptOutput
  readonly #live: LiveOutput
  readonly #pipe: OutputPipe
  readonly #prompt: PromptDetector
  readonly #changeWatchers = new Set<() => void>()
  readonly #finished: Promise<void>
  readonly #cancelTimeout: () => void
  readonly #endDiskWatch: () => void
  readonly #detachFromCall: () => void
  #state: State = { name: 'running' }
  #isBackground = false
  #changes = 0
  /** What the last reader of the output knew. */
  #seen = { changes: 0, isWaiting: false }

  constructor(options: ManagedCommandOptions) {
    const { id, process, call, clock, stdin } = options
    this.id = id
    this.call = call
    this.#options = options
    this.#startedAt = clock.now()
    this.#prompt = new PromptDetector(clock)
    this.#input = new CommandInput(process.stdin, id, clock)
    this.#kept = new KeptOutput({ bound: options.tailBytes ?? TAIL_BYTES, keepOutput: call.keepOutput })
    this.#live = new LiveOutput(clock)
    this.#pipe = new OutputPipe({
      stdout: process.stdout,
      stderr: process.stderr,
      redact: call.redact,
      kept: this.#kept,
      live: this.#live,
      clock,
      maxBytes: options.outputBytes,
      onTooMuch: () => this.#stop(),
      onBytes: (bytes) => this.#prompt.note(bytes),
      onMore: () => this.#notifyWatchers(),
    })
    if (stdin !== undefined) this.#input.finish(stdin)
    this.#cancelTimeout = clock.after(options.timeoutMs, () => this.#stop({ timedOut: true }))
    this.#endDiskWatch = options.watchDisk((overuse) => this.#stop({ overuse }))
    this.#detachFromCall = this.#followCall(call.signal())
    this.#finished = this.#finish()
  }

  get isRunning(): boolean {
    return this.#state.name !== 'ended'
  }

  /** Whether it has a file that would be left behind: neither saved as an artifact nor removed. */
  get hasTemporaryFile(): boolean {
    return this.#kept.hasTemporaryFile
  }

  state(): CommandState {
    const { command, cwd, sandbox, clock } = this.#options
    const { timedOut = false, overuse } = this.#stopReason
    const ended = this.#state.name === 'ended' ? this.#state : undefined
    return {
      id: this.id,
      command,
      cwd,
      sandbox,
      startedAt: new Date(this.#startedAt).toISOString(),
      status: ended ? 'exited' : 'running',
      ...ended?.exit,
      timedOut,
      ...(overuse && { overuse }),
      durationMs: (ended?.endedAt ?? clock.now()) - this.#startedAt,
      isBackground: this.#isBackground,
      isWaiting: this.#waitsIn() === 0,
      bytes: this.#pipe.bytes,
    }
  }

  output(): CommandOutput {
    this.#markSeen()
    return this.#kept.output()
  }

  onOutput(listener: OutputListener): () => void {
    return this.#live.listen(listener)
  }

  async ended(limits: WaitLimits = {}): Promise<boolean> {
    if (!this.isRunning) return true
    const watch = (done: () => void) => {
      void this.#finished.then(done)
      return () => undefined
    }
    return waitUntil(watch, limits, this.#options.clock)
  }

  async changed(limits: WaitLimits = {}): Promise<void> {
    const isNews = this.#changes > this.#seen.changes || (this.#waitsIn() === 0 && !this.#seen.isWaiting)
    // A change is reported only once.
    this.#markSeen()
    if (!this.isRunning || isNews) return
    const { clock } = this.#options
    const watch = (done: () => void) => {
      this.#changeWatchers.add(done)
      const left = this.#waitsIn()
      // Only becoming true is a change: a command that already waits was reported as waiting.
      const cancel = left ? clock.after(left, done, { background: true }) : undefined
      return () => {
        this.#changeWatchers.delete(done)
        cancel?.()
      }
    }
    await waitUntil(watch, limits, clock)
    this.#markSeen()
  }

  log(options?: { readonly offset?: number; readonly limit?: number }): Promise<LogPage> {
    return this.#kept.log(options)
  }

  async write(text: string): Promise<void> {
    this.#refuseEnded()
    this.#prompt.answer()
    await this.#input.write(text)
  }

  async closeInput(): Promise<void> {
    this.#refuseEnded()
    this.#input.close()
  }

  async kill(): Promise<void> {
    if (this.isRunning) await this.#options.process.stop()
    await this.#finished
  }

  async toBackground(): Promise<void> {
    if (this.#isBackground) return
    throwIfAborted(this.call.signal())
    const { register, command } = this.#options
    register(this)
    this.#isBackground = true
    try {
      await this.call.onBackground?.(this.id, command)
    } catch (error) {
      // A command that is not on record must not continue.
      await this.kill()
      throw error
    }
    this.#detachFromCall()
    // Also if it has ended meanwhile: its start was reported, so its end is reported too.
    this.#finished
      .then(() => this.call.onEnded?.(this.id, command, this.#outcome()))
      // Nobody waits for this: the receiver handles its own failures.
      .catch(() => undefined)
  }

  async artifact(): Promise<Artifact | undefined> {
    return this.isRunning ? undefined : this.#kept.artifact(`${this.id}.log`)
  }

  /** Ends it and leaves nothing behind except artifacts. */
  async discard(): Promise<void> {
    await this.kill()
    await this.#kept.discard()
  }

  async #finish(): Promise<void> {
    const { process, clock, release } = this.#options
    let lostWhy: string | undefined
    const exit = await process.exited.catch((error: unknown): Exit => {
      lostWhy = messageOf(error)
      return { signal: 'SIGKILL' }
    })
    const endedAt = clock.now()
    this.#cancelTimeout()
    this.#endDiskWatch()
    this.#detachFromCall()
    await this.#pipe.drain(lostWhy)
    this.#input.destroy()
    // The command has ended even if something cannot be released.
    await release().catch(() => undefined)
    this.#state = { name: 'ended', ...this.#stopReason, exit, endedAt }
    this.#notifyWatchers()
  }

  /** SIGTERM, then SIGKILL. If it cannot be ended, its state shows that: it still runs. */
  #stop(reason: StopReason = {}): void {
    if (this.#state.name !== 'ended') this.#state = { name: 'stopping', ...this.#stopReason, ...reason }
    this.#options.process.stop().catch(() => undefined)
  }

  get #stopReason(): StopReason {
    if (this.#state.name === 'running') return {}
    const { timedOut, overuse } = this.#state
    return { timedOut, overuse }
  }

  #outcome(): Exit & { timedOut: boolean } {
    const exit = this.#state.name === 'ended' ? this.#state.exit : {}
    return { ...exit, timedOut: this.#stopReason.timedOut ?? false }
  }

  #followCall(signal: AbortSignal): () => void {
    const stop = () => this.#stop()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    return () => signal.removeEventListener('abort', stop)
  }

  #markSeen(): void {
    this.#seen = { changes: this.#changes, isWaiting: this.#waitsIn() === 0 }
  }

  #notifyWatchers(): void {
    this.#changes++
    for (const watcher of [...this.#changeWatchers]) watcher()
  }

  /** Only a command that can be answered waits. */
  #waitsIn(): number | undefined {
    return this.isRunning && this.#input.isOpen ? this.#prompt.waitsIn() : undefined
  }

  #refuseEnded(): void {
    if (this.isRunning) return
    throw new ToolError('CONFLICT', `${this.id} has ended; nothing can be written to it.`, {
      hint: 'Read its output with log, or start it again.',
    })
  }
}
