import type { Exit, OpenMessage, PrewarmMessage, RunMessage, SpawnerMessage } from '../start/protocol.ts'
import { CommandPipes, type PipeSupply } from './command-pipes.ts'
import { detachedMounts, fingerprint, swappedMount, watchCovers } from './mount-checks.ts'
import { SandboxProcesses } from './sandbox-processes.ts'
import { SandboxShell } from './sandbox-shell.ts'

const GRACE_MS = 150
const HELPER_TIMEOUT_MS = 5_000
/** How long the last output of a sandbox that has exited is awaited. */
const LAST_OUTPUT_MS = 100

/**
 * How far a sandbox has come.
 * - `prewarmed`: a shell outside of any sandbox waits, or its pipes are being created.
 * - `sandboxed`: the shell inside the sandbox waits for its command.
 * - `running`: that shell is about to become the command, or has become it.
 */
type Stage = 'prewarmed' | 'sandboxed' | 'running'

type State =
  | { readonly name: Stage }
  /** `uncovered`: it is killed because a new file at this path was no longer covered. */
  | { readonly name: 'stopping'; readonly reached: Stage; readonly killAt: number; readonly uncovered?: string }
  /** The outermost process has exited; whatever it left behind is being killed. */
  | { readonly name: 'ended'; readonly reached: Stage; readonly exit: Exit; readonly uncovered?: string }

/** One sandbox in the spawner: from its prewarmed process to the end of all processes of its command. */
export class SpawnedSandbox {
  readonly #request: PrewarmMessage
  readonly #send: (message: SpawnerMessage) => void
  readonly #processes: SandboxProcesses
  #state: State = { name: 'prewarmed' }
  #pipes: CommandPipes | undefined
  #shell: SandboxShell | undefined
  #sandbox: (OpenMessage & { readonly fingerprint?: string }) | undefined
  #command: RunMessage | undefined
  /** How the start went is reported once. */
  #isReported = false
  #timer: NodeJS.Timeout | undefined
  #endCoverWatch: (() => void) | undefined

  constructor(request: PrewarmMessage, send: (message: SpawnerMessage) => void) {
    this.#request = request
    this.#send = send
    this.#processes = new SandboxProcesses(request.level)
  }

  /** Starts the prewarmed process and announces its pipes. Reports its failures itself. */
  async start(supply: PipeSupply): Promise<void> {
    try {
      const pipes = await CommandPipes.take(supply, this.#request.seccomp)
      this.#pipes = pipes
      if (this.#state.name !== 'stopping') this.#startShell(pipes)
      pipes.closeCommandEnds()
      if (!this.#shell) this.#finish({ signal: 'SIGKILL' })
    } catch (error) {
      this.#reportBroken((error as Error).message)
      this.#finish({})
    }
  }

  /** Turns the prewarmed process into a sandbox, now or as soon as it exists. */
  open(message: OpenMessage): void {
    this.#sandbox = message.isWarm ? { ...message, fingerprint: fingerprint(message.args) } : message
    this.#enterSandbox()
  }

  /** Gives the sandbox its command, now or as soon as it is ready. */
  run(message: RunMessage): void {
    const sandbox = this.#sandbox
    if (sandbox?.fingerprint !== undefined && sandbox.fingerprint !== fingerprint(sandbox.args)) {
      return void this.#breakOff('a folder of it was replaced')
    }
    this.#command = message
    if (this.#reached !== 'prewarmed') this.#startIfCovered(message)
  }

  /** The hub has opened its ends of the pipes. */
  connected(): void {
    this.#pipes?.closeHubEnds()
  }

  /** Ends the command, with SIGTERM first, and then everything that is left. */
  stop(graceMs: number = GRACE_MS): void {
    const state = this.#state
    if (state.name === 'ended') return
    const hasCommand = this.#reached !== 'prewarmed' && this.#command !== undefined
    const waitMs = hasCommand ? graceMs : 0
    const killAt = Date.now() + waitMs
    // Another request can only make it sooner.
    if (state.name === 'stopping' && killAt >= state.killAt) return
    this.#state = { name: 'stopping', reached: this.#reached, killAt, uncovered: this.#uncovered }
    if (state.name !== 'stopping' && hasCommand) this.#processes.terminate()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#processes.kill(), waitMs)
  }

  /** Kills everything immediately, whether it has started or not. */
  kill(uncovered = this.#uncovered): void {
    const state = this.#state
    const killAt = state.name === 'stopping' ? state.killAt : Infinity
    this.#state =
      state.name === 'ended' ? { ...state, uncovered } : { name: 'stopping', reached: this.#reached, killAt, uncovered }
    this.#processes.kill()
  }

  /** Kills processes that are left behind; returns whether any process still lives. */
  killRemaining(): boolean {
    return this.#processes.killRemaining()
  }

  get #reached(): Stage {
    return 'reached' in this.#state ? this.#state.reached : this.#state.name
  }

  get #uncovered(): string | undefined {
    return 'uncovered' in this.#state ? this.#state.uncovered : undefined
  }

  #advance(stage: Stage): void {
    this.#state = 'reached' in this.#state ? { ...this.#state, reached: stage } : { name: stage }
  }

  #startShell(pipes: CommandPipes): void {
    const env = { ...this.#request.env, ...this.#processes.environment }
    const shell = new SandboxShell(this.#request, pipes, env, {
      onReady: () => this.#onReady(),
      onStarting: () => this.#onStarting(),
      onReportEnd: () => {
        if (this.#reached === 'running') this.#reportRunning()
      },
      onRefused: (reason) => this.#report({ type: 'refused', id: this.#request.id, reason }),
      onHelperLine: (line) => this.#onHelperLine(line),
      onExit: (code, signal) => this.#onExit({ exitCode: code ?? undefined, signal: signal ?? undefined }),
      onError: (error) => {
        this.#reportBroken(error.message)
        this.#finish({})
      },
    })
    this.#shell = shell
    if (shell.pid === undefined) return
    this.#processes.outermost(shell.pid)
    this.#send({ type: 'pipes', id: this.#request.id, paths: pipes.paths })
    this.#enterSandbox()
  }

  #enterSandbox(): void {
    if (!this.#sandbox || this.#shell?.pid === undefined) return
    try {
      this.#shell.become(this.#sandbox)
    } catch (error) {
      // The arguments cannot be passed to any program.
      this.#breakOff((error as Error).message)
    }
  }

  #onReady(): void {
    this.#advance('sandboxed')
    this.#processes.inspect()
    const { swappable } = this.#sandbox!
    const swapped = swappable?.length && swappedMount({ swappable }, this.#processes.mounts())
    if (swapped) return void this.#breakOff(`${swapped} was replaced while the sandbox was made`)
    if (this.#command) this.#startIfCovered(this.#command)
  }

  /** Watches from before the command exists, so that nothing new appears at a closed path unnoticed. */
  #startIfCovered(message: RunMessage): void {
    const { closed = [] } = this.#sandbox!
    const mounts = () => this.#processes.mounts()
    this.#endCoverWatch = watchCovers({ closed, mounts, onUncovered: (path) => this.kill(path) })
    const [detached] = closed.length > 0 ? detachedMounts(closed, mounts()) : []
    if (detached === undefined) this.#startCommand(message)
    else this.#breakOff(`${detached} was replaced while the sandbox was made`)
  }

  #startCommand({ script, helper }: RunMessage): void {
    if (helper === undefined) return void this.#shell!.writeLast(script)
    this.#shell!.write(helper)
    this.#timer = setTimeout(() => this.#onHelperLine(''), HELPER_TIMEOUT_MS)
  }

  #onHelperLine(line: string): void {
    if (this.#shell!.isInputEnded) return
    // While stopping, the timer is the one that kills.
    if (this.#state.name !== 'stopping') clearTimeout(this.#timer)
    if (line !== '') return void this.#shell!.writeLast(this.#command!.script)
    this.#reportBroken('the way to the network did not open inside the sandbox')
    this.#processes.kill()
  }

  #onStarting(): void {
    this.#advance('running')
    // At this level, the processes around the command keep the report pipe open until all of them end.
    if (this.#request.level === 'namespaces') this.#reportRunning()
  }

  #onExit(exit: Exit): void {
    clearTimeout(this.#timer)
    this.#state = { name: 'ended', reached: this.#reached, exit, uncovered: this.#uncovered }
    this.#processes.outermostEnded()
    this.#processes.kill()
    this.#awaitEnd(exit, Date.now() + LAST_OUTPUT_MS, 0)
  }

  #awaitEnd(exit: Exit, until: number, tries: number): void {
    // After its start was reported, a command has no more output here.
    const isSilent = this.#isReported || this.#shell!.isClosed || Date.now() > until
    const isDone = isSilent && !this.#processes.killRemaining()
    const again = () => this.#awaitEnd(exit, until, tries + 1)
    // Most processes are gone by now, and the rest takes microseconds.
    if (!isDone) return void (tries < 5 ? setImmediate(again) : setTimeout(again, 1))
    if (this.#reached === 'prewarmed') {
      this.#reportBroken(this.#shell!.stderr || `it ended before its command: ${JSON.stringify(exit)}`)
    }
    if (this.#reached === 'running') this.#reportRunning()
    this.#finish(this.#processes.nameSignal(exit))
  }

  #finish(exit: Exit): void {
    clearTimeout(this.#timer)
    this.#endCoverWatch?.()
    // Nobody knows of the pipes of a shell that was not started.
    if (this.#shell?.pid === undefined) this.connected()
    this.#reportBroken('it was stopped before its command')
    const uncovered = this.#uncovered
    this.#state = { name: 'ended', reached: this.#reached, exit, uncovered }
    this.#send({ type: 'ended', id: this.#request.id, ...exit, uncovered })
  }

  #breakOff(reason: string): void {
    this.#reportBroken(reason)
    this.stop()
  }

  #reportRunning(): void {
    this.#report({ type: 'running', id: this.#request.id, pid: this.#processes.command })
  }

  #reportBroken(reason: string): void {
    this.#report({ type: 'broken', id: this.#request.id, reason })
  }

  #report(message: SpawnerMessage): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#send(message)
  }
}
