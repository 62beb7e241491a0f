import { Socket } from 'node:net'
import type { Exit, OpenMessage, PrewarmMessage, RunMessage, SpawnerMessage } from '../start/protocol.ts'
import { CommandPipes, type PipeSupply, ShellPipes, type SparePipe } from './command-pipes.ts'
import { detachedMounts, fingerprint, swappedMount, watchCovers } from './mount-checks.ts'
import { SandboxProcesses } from './sandbox-processes.ts'
import { SandboxShell } from './sandbox-shell.ts'
import { readSandboxState } from './sandbox-state.ts'

const GRACE_MS = 150
const HELPER_TIMEOUT_MS = 5_000
/** How long the last output of a sandbox that has exited is awaited. */
const LAST_OUTPUT_MS = 100
/** How often it is checked that a supervisor has reported the end of its command. */
const OVERDUE_MS = 1_000

/**
 * How far a sandbox has come with its current command.
 * - `prewarmed`: a shell outside of any sandbox waits, or the pipes of the command are being created.
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

/**
 * One sandbox in the spawner: from its prewarmed process to the end of all its processes. A reusable one runs several
 * commands, one at a time, each with an id of its own; between two of them nothing of the first is left.
 */
export class SpawnedSandbox {
  readonly #request: PrewarmMessage
  readonly #send: (message: SpawnerMessage) => void
  readonly #processes: SandboxProcesses
  /** The pipes of its commands that the hub has not opened yet. */
  readonly #pipes = new Map<number, CommandPipes>()
  /** Of the current command, or of the next one. */
  #id: number
  #isReusable: boolean
  #state: State = { name: 'prewarmed' }
  #shell: SandboxShell | undefined
  #sandbox: (OpenMessage & { readonly fingerprint?: string }) | undefined
  #command: RunMessage | undefined
  /** What a command could have left behind in the sandbox, as it was before the first one. */
  #untouched: string | undefined
  /** How the command ended, as its supervisor reported. */
  #commandExit: Exit | undefined
  /** How the start went is reported once. */
  #isReported = false
  #isHelperAwaited = false
  /** The pipe that shows when the shell becomes the command, until it is read. */
  #started: SparePipe | undefined
  #timer: NodeJS.Timeout | undefined
  #overdue: NodeJS.Timeout | undefined
  #endCoverWatch: (() => void) | undefined

  constructor(request: PrewarmMessage, send: (message: SpawnerMessage) => void) {
    this.#request = request
    this.#id = request.id
    this.#isReusable = request.isReusable
    this.#send = send
    this.#processes = new SandboxProcesses(request.level)
  }

  /** Starts the prewarmed process and announces its pipes. Reports its failures itself. */
  async start(supply: PipeSupply): Promise<void> {
    try {
      this.#isReusable &&= supply.shellsCreatePipes
      const pipes = await ShellPipes.take(supply, { ...this.#request, isReusable: this.#isReusable })
      if (this.#state.name !== 'stopping') this.#startShell(pipes)
      pipes.closeSandboxEnds()
      if (!this.#shell) this.#finish({ signal: 'SIGKILL' })
    } catch (error) {
      this.#reportBroken((error as Error).message)
      this.#finish({})
    }
  }

  /** Turns the prewarmed process into a sandbox, now or as soon as it exists. */
  open(message: OpenMessage): void {
    const isKept = message.isWarm || this.#isReusable
    this.#sandbox = isKept ? { ...message, fingerprint: fingerprint(message.args) } : message
    this.#enterSandbox()
  }

  /** Gives the sandbox its command, now or as soon as it is ready. */
  run(message: RunMessage): void {
    if (message.id !== this.#id || this.#state.name === 'ended') return void this.#refuse(message)
    this.#command = message
    const sandbox = this.#sandbox
    const isReplaced = sandbox?.fingerprint !== undefined && sandbox.fingerprint !== fingerprint(sandbox.args)
    if (isReplaced) this.#breakOff('a folder of it was replaced')
    else if (this.#reached !== 'prewarmed') this.#startIfCovered(message)
  }

  /** The hub has opened its ends of the pipes. */
  connected(id: number): void {
    this.#pipes.get(id)?.closeHubEnds()
    this.#pipes.delete(id)
  }

  /** Ends the command with this id, with SIGTERM first, and then everything that is left. */
  stop(id: number, graceMs: number = GRACE_MS): void {
    const state = this.#state
    if (id !== this.#id || state.name === 'ended') return
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

  #startShell(pipes: ShellPipes): void {
    const env = { ...this.#request.env, ...this.#processes.environment }
    const request = { ...this.#request, isReusable: this.#isReusable }
    const shell = new SandboxShell(request, pipes, env, {
      onPiped: () => this.#onPiped(),
      onReady: () => {
        this.#processes.inspect()
        this.#onReady()
      },
      onStarting: () => this.#onStarting(),
      onReportEnd: () => {
        if (this.#reached === 'running') this.#reportRunning()
      },
      onRefused: (reason) => this.#report({ type: 'refused', id: this.#id, reason }),
      onExited: (exitCode) => {
        if (this.#commandExit || !this.#command) return void this.kill()
        this.#commandExit = { exitCode }
      },
      onCleaned: (isClean) => this.#onCleaned(isClean),
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
    if (pipes.command) this.#announce(pipes.command)
    this.#enterSandbox()
  }

  #announce(pipes: CommandPipes): void {
    this.#pipes.set(this.#id, pipes)
    this.#send({ type: 'pipes', id: this.#id, paths: pipes.paths })
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

  /** The shell for the next command waits; nothing else runs in the sandbox. */
  #onPiped(): void {
    // A report that does not fit is not the supervisor's.
    if (!this.#isReusable || this.#reached !== 'prewarmed' || this.#started) return void this.kill()
    const shell = this.#shell!
    this.#processes.inspect()
    const pid = this.#processes.command
    try {
      if (pid === undefined) throw new Error('its shell cannot be found')
      const state = readSandboxState(this.#processes.supervisor!, pid)
      this.#untouched ??= state
      if (this.#untouched !== state) throw new Error('a command has changed it')
      const { pipes, started } = CommandPipes.fromShell(pid, shell.descriptors)
      this.#started = started
      this.#announce(pipes)
    } catch (error) {
      return void this.#breakOff((error as Error).message)
    }
    this.#onReady()
  }

  #onReady(): void {
    this.#advance('sandboxed')
    const { swappable } = this.#sandbox!
    const swapped = swappable?.length && swappedMount({ swappable }, this.#processes.mounts())
    if (swapped) return void this.#breakOff(`${swapped} was replaced while the sandbox was made`)
    if (this.#command) this.#startIfCovered(this.#command)
  }

  /** Watches from before the command exists, so that nothing new appears at a closed path unnoticed. */
  #startIfCovered(message: RunMessage): void {
    // It was broken off before it was ready.
    if (this.#isReported) return
    const { closed = [] } = this.#sandbox!
    const mounts = () => this.#processes.mounts()
    this.#endCoverWatch = watchCovers({ closed, mounts, onUncovered: (path) => this.kill(path) })
    const [detached] = closed.length > 0 ? detachedMounts(closed, mounts()) : []
    if (detached === undefined) this.#startCommand(message)
    else this.#breakOff(`${detached} was replaced while the sandbox was made`)
  }

  #startCommand({ script, helper }: RunMessage): void {
    if (helper === undefined) return void this.#shell!.writeCommand(script)
    this.#isHelperAwaited = true
    this.#shell!.write(helper)
    this.#timer = setTimeout(() => this.#onHelperLine(''), HELPER_TIMEOUT_MS)
  }

  #onHelperLine(line: string): void {
    if (!this.#isHelperAwaited) return
    this.#isHelperAwaited = false
    // While stopping, the timer is the one that kills.
    if (this.#state.name !== 'stopping') clearTimeout(this.#timer)
    if (line !== '') return void this.#shell!.writeCommand(this.#command!.script)
    this.#reportBroken('the way to the network did not open inside the sandbox')
    this.#processes.kill()
  }

  #onStarting(): void {
    this.#advance('running')
    // At this level, the processes around the command keep the report pipe open until all of them end.
    if (this.#request.level === 'namespaces') this.#reportRunning()
    if (!this.#started) return
    this.#watchEnd()
    this.#awaitReplacement(this.#started)
  }

  /** The pipe closes when the shell becomes the command, or exits. Not read before the shell has opened its end. */
  #awaitReplacement({ fd }: SparePipe): void {
    this.#started = undefined
    const id = this.#id
    const pipe = new Socket({ fd, readable: true, writable: false })
    pipe.on('error', () => {})
    // A shell that could not become the command has reported that before, so its report is read first. If the process is
    // gone, its end is reported next.
    const onClose = () => {
      if (id === this.#id && this.#processes.isCommandLiving) this.#reportRunning()
    }
    pipe.resume().on('close', () => setImmediate(onClose))
  }

  /** A command can stop its supervisor, which then does not report the end. */
  #watchEnd(wasLiving = true): void {
    this.#overdue = setTimeout(() => {
      if (!wasLiving) return void this.kill()
      this.#watchEnd(this.#processes.isCommandLiving)
    }, OVERDUE_MS)
  }

  /** The supervisor has ended everything that the command started. */
  #onCleaned(isClean: boolean): void {
    // What it reported may be read after its exit was noticed.
    if (this.#state.name === 'ended') return
    clearTimeout(this.#overdue)
    this.#endCoverWatch?.()
    if (this.#state.name === 'running') this.#reportRunning()
    const nextId = this.#command?.nextId
    const exit = this.#commandExit
    // Only after a command that ran and ended by itself.
    if (!isClean || !exit || nextId === undefined || this.#state.name !== 'running') return void this.#processes.kill()
    this.#send({ type: 'ended', id: this.#id, ...this.#processes.nameSignal(exit) })
    this.#id = nextId
    this.#command = undefined
    this.#commandExit = undefined
    this.#isReported = false
    this.#state = { name: 'prewarmed' }
  }

  #onExit(exit: Exit): void {
    clearTimeout(this.#timer)
    clearTimeout(this.#overdue)
    this.#state = { name: 'ended', reached: this.#reached, exit, uncovered: this.#uncovered }
    this.#processes.outermostEnded()
    this.#processes.kill()
    this.#awaitEnd(this.#commandExit ?? exit, Date.now() + LAST_OUTPUT_MS, 0)
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
    this.#started?.close()
    this.#endCoverWatch?.()
    this.#reportBroken('it was stopped before its command')
    const uncovered = this.#uncovered
    this.#state = { name: 'ended', reached: this.#reached, exit, uncovered }
    // First, so that the hub does not hand a command to it when this one has ended.
    this.#endNext(this.#command)
    this.#send({ type: 'ended', id: this.#id, ...exit, uncovered })
  }

  /** The hub did not know yet that the sandbox has ended; it must not wait for an answer. */
  #refuse(message: RunMessage): void {
    this.#endNext(message)
    this.#send({ type: 'ended', id: message.id })
  }

  /** There will be no other command after this one. */
  #endNext(message: RunMessage | undefined): void {
    if (message?.nextId !== undefined) this.#send({ type: 'ended', id: message.nextId })
  }

  #breakOff(reason: string): void {
    this.#reportBroken(reason)
    this.stop(this.#id)
  }

  #reportRunning(): void {
    this.#report({ type: 'running', id: this.#id, pid: this.#processes.command })
  }

  #reportBroken(reason: string): void {
    this.#report({ type: 'broken', id: this.#id, reason })
  }

  #report(message: SpawnerMessage): void {
    if (this.#isReported) return
    this.#isReported = true
    this.#send(message)
  }
}
