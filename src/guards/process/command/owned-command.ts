import type { Clock } from '../../../clock.ts'
import type { CommandOutput, CommandState, LogPage, RunningCommand, SandboxLevel } from '../../../contracts/commands.ts'
import { messageOf, ToolError } from '../../../errors.ts'
import type { Artifact } from '../../../result.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { CommandCall } from '../command-call.ts'
import { KeptOutput } from '../output/kept-output.ts'
import { LiveOutput, type OutputListener } from '../output/live-output.ts'
import { OutputPipe } from '../output/output-pipe.ts'
import type { Exit, Started } from '../start/started.ts'
import { CommandInput } from './command-input.ts'
import type { DiskOveruse } from './disk-watch.ts'
import { PromptWatch } from './prompt-watch.ts'
import { type Patience, waitUntil } from './wait-until.ts'

/** A command that was just started, and what holds for it. */
export interface OwnedCommandOptions {
  readonly id: string
  /** As one line, for people. */
  readonly command: string
  readonly cwd: string
  readonly sandbox: SandboxLevel
  readonly started: Started
  /** Watches what it adds to the disk, and ends it through `stop`; returns how to end that. */
  readonly watchDisk: (stop: (why: DiskOveruse) => void) => () => void
  readonly call: CommandCall
  readonly clock: Clock
  readonly timeoutMs: number
  /** Undefined: the input stays open. */
  readonly stdin: string | undefined
  readonly outputBytes: number
  readonly tailBytes?: number
  /** Makes it findable; throws when there are too many. */
  readonly register: (command: OwnedCommand) => void
  /** Gives back what was opened for it alone. */
  readonly release: () => Promise<void>
}

const TAIL_BYTES = 50 * 1024

/** A command that runs or has run, for the run that started it. */
export class OwnedCommand implements RunningCommand {
  readonly id: string
  readonly call: CommandCall
  readonly #options: OwnedCommandOptions
  readonly #startedAt: number
  readonly #input: CommandInput
  readonly #kept: KeptOutput
  readonly #live: LiveOutput
  readonly #pipe: OutputPipe
  readonly #prompt: PromptWatch
  readonly #changeWatchers = new Set<() => void>()
  #changes = 0
  /** What was known of it when somebody last looked at its output. */
  #seen = { changes: 0, isWaiting: false }
  readonly #finished: Promise<void>
  #endedAt: number | undefined
  #exit: Exit | undefined
  #isTimedOut = false
  #overuse: DiskOveruse | undefined
  #isBackground = false
  #leaveCall: () => void
  #cancelTimeout: () => void
  #leaveDisk: () => void

  constructor(options: OwnedCommandOptions) {
    const { id, started, call, clock, stdin } = options
    this.id = id
    this.call = call
    this.#options = options
    this.#startedAt = clock.now()
    this.#prompt = new PromptWatch(clock)
    this.#input = new CommandInput(started.stdin, id, clock)
    this.#kept = new KeptOutput({ bound: options.tailBytes ?? TAIL_BYTES, keepOutput: call.keepOutput })
    this.#live = new LiveOutput(clock)
    this.#pipe = new OutputPipe({
      stdout: started.stdout,
      stderr: started.stderr,
      redact: call.redact,
      kept: this.#kept,
      live: this.#live,
      clock,
      maxBytes: options.outputBytes,
      onTooMuch: () => this.#stop(),
      onBytes: (bytes) => this.#prompt.note(bytes),
      onMore: () => this.#tellWatchers(),
    })
    if (stdin !== undefined) this.#input.finish(stdin)
    this.#cancelTimeout = clock.after(options.timeoutMs, () => {
      this.#isTimedOut = true
      this.#stop()
    })
    this.#leaveDisk = options.watchDisk((why) => {
      this.#overuse = why
      this.#stop()
    })
    this.#leaveCall = this.#followCall(call.signal())
    this.#finished = this.#finish()
  }

  get isRunning(): boolean {
    return this.#exit === undefined
  }

  /** It has a file that would stay behind: neither an artifact nor removed. */
  get hasLooseFile(): boolean {
    return this.#kept.hasLooseFile
  }

  state(): CommandState {
    const { command, cwd, sandbox, clock } = this.#options
    return {
      id: this.id,
      command,
      cwd,
      sandbox,
      startedAt: new Date(this.#startedAt).toISOString(),
      status: this.isRunning ? 'running' : 'exited',
      ...this.#exit,
      timedOut: this.#isTimedOut,
      ...(this.#overuse && { overuse: this.#overuse }),
      durationMs: (this.#endedAt ?? clock.now()) - this.#startedAt,
      isBackground: this.#isBackground,
      isWaiting: this.#asksIn() === 0,
      bytes: this.#pipe.bytes,
    }
  }

  output(): CommandOutput {
    this.#look()
    return this.#kept.output()
  }

  onOutput(listener: OutputListener): () => void {
    return this.#live.listen(listener)
  }

  async ended(patience: Patience = {}): Promise<boolean> {
    if (!this.isRunning) return true
    return waitUntil(
      (done) => {
        void this.#finished.then(done)
        return () => undefined
      },
      patience,
      this.#options.clock,
    )
  }

  async changed(patience: Patience = {}): Promise<void> {
    const isNews = this.#changes > this.#seen.changes || (this.#asksIn() === 0 && !this.#seen.isWaiting)
    // Who hears of it once need not be told again.
    this.#look()
    if (!this.isRunning || isNews) return
    const { clock } = this.#options
    const watch = (done: () => void) => {
      this.#changeWatchers.add(done)
      const left = this.#asksIn()
      // Only what becomes true is a change: one that already waits has been told as waiting.
      const cancel = left ? clock.after(left, done, { background: true }) : undefined
      return () => {
        this.#changeWatchers.delete(done)
        cancel?.()
      }
    }
    await waitUntil(watch, patience, clock)
    this.#look()
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
    if (this.isRunning) await this.#options.started.stop()
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
      // What is not on record must not run on.
      await this.kill()
      throw error
    }
    this.#leaveCall()
    // Also where it has ended meanwhile: who heard of its beginning hears of its end.
    this.#finished
      .then(() => this.call.onEnded?.(this.id, command, { ...this.#exit, timedOut: this.#isTimedOut }))
      // Nobody waits for it here: who is told deals with its own failures.
      .catch(() => undefined)
  }

  async artifact(): Promise<Artifact | undefined> {
    return this.isRunning ? undefined : this.#kept.artifact(`${this.id}.log`)
  }

  /** Leaves nothing behind but artifacts. */
  async forget(): Promise<void> {
    await this.kill()
    await this.#kept.discard()
  }

  async #finish(): Promise<void> {
    const { started, clock, release } = this.#options
    let lostWhy: string | undefined
    const exit = await started.exited.catch((error: unknown): Exit => {
      lostWhy = messageOf(error)
      return { signal: 'SIGKILL' }
    })
    const endedAt = clock.now()
    this.#cancelTimeout()
    this.#leaveDisk()
    this.#leaveCall()
    await this.#pipe.drain(lostWhy)
    this.#input.destroy()
    // What cannot be given back keeps no command from having ended.
    await release().catch(() => undefined)
    this.#endedAt = endedAt
    this.#exit = exit
    this.#tellWatchers()
  }

  /** Politely first and then by force; that it could not be ended shows in its state: it still runs. */
  #stop(): void {
    this.#options.started.stop().catch(() => undefined)
  }

  #followCall(signal: AbortSignal): () => void {
    const stop = () => this.#stop()
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    return () => signal.removeEventListener('abort', stop)
  }

  #look(): void {
    this.#seen = { changes: this.#changes, isWaiting: this.#asksIn() === 0 }
  }

  #tellWatchers(): void {
    this.#changes++
    for (const watcher of [...this.#changeWatchers]) watcher()
  }

  /** Only who can be answered asks. */
  #asksIn(): number | undefined {
    return this.isRunning && this.#input.isOpen ? this.#prompt.asksIn() : undefined
  }

  #refuseEnded(): void {
    if (this.isRunning) return
    throw new ToolError('CONFLICT', `${this.id} has ended; nothing can be written to it.`, {
      hint: 'Read its output with log, or start it again.',
    })
  }
}
