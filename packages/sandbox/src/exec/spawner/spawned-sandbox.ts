import type { Exit, OpenMessage, PrewarmMessage, RunMessage, SpawnerMessage } from '../start/protocol.ts'
import { CommandPipes, type PipeSupply, ShellPipes, type SparePipe, whenClosed } from './command-pipes.ts'
import { detachedMounts, fingerprint, swappedMount, watchCovers } from './mount-checks.ts'
import { SandboxProcesses } from './sandbox-processes.ts'
import { SandboxShell } from './sandbox-shell.ts'
import { SandboxState } from './sandbox-state.ts'

const GRACE_MS = 150
const HELPER_TIMEOUT_MS = 5_000
/** How long the last output of a sandbox that has exited is awaited. */
const LAST_OUTPUT_MS = 100
/** How often it is checked that a supervisor has reported the end of its command, and how often it is continued then. */
const OVERDUE_MS = 1_000
const MAX_OVERDUE = 10

/** How far a sandbox has come with its current command. */
type Stage =
  /** A shell outside of any sandbox waits, or the one inside creates the pipes of the command. */
  | { readonly name: 'prewarmed' }
  /** The shell inside waits for its command; `started`: the pipe that closes when it becomes the command, if it has one. */
  | { readonly name: 'sandboxed'; readonly started?: SparePipe; readonly isHelperAwaited?: boolean }
  /** The shell is about to become the command, or has become it; `exit` as its supervisor reported. */
  | { readonly name: 'running'; readonly exit?: Exit }

/** Why it is killed, if nobody has stopped it: a new file at a path is `uncovered`, or the command does not start. */
type KillReason = { readonly uncovered?: string; readonly broken?: string }

type State =
  | Stage
  | { readonly name: 'stopping'; readonly reached: Stage; readonly killAt: number; readonly why: KillReason }
  /** The outermost process has exited; whatever it left behind is being killed. */
  | { readonly name: 'exited'; readonly reached: Stage; readonly why: KillReason }
  /** The hub has been told so. */
  | { readonly name: 'ended'; readonly reached: Stage; readonly why: KillReason }

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
  /** What a command could leave behind in the sandbox, as it was before the first one. */
  #left: SandboxState | undefined
  /** How the start went is reported once. */
  #isReported = false
  #timer: NodeJS.Timeout | undefined
  #startTimer: NodeJS.Timeout | undefined
  #overdue: NodeJS.Timeout | undefined
  #endCoverWatch: (() => void) | undefined

  constructor(request: PrewarmMessage, send: (message: SpawnerMessage) => void) {
    this.#request = request
    this.#id = request.id
    this.#isReusable = request.isReusable
    this.#send = send
    this.#processes = new SandboxProcesses(request.level, () => this.#finish({ signal: 'SIGKILL' }))
  }

  /** Starts the prewarmed process and announces its pipes. Reports its failures itself. */
  async start(supply: PipeSupply): Promise<void> {
    try {
      this.#isReusable &&= supply.shellsCreatePipes
      const pipes = await ShellPipes.take(supply, { ...this.#request, isReusable: this.#isReusable })
      if (this.#state.name === 'prewarmed') this.#startShell(pipes)
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
    if (message.id !== this.#id || this.#hasExited) return void this.#refuse(message)
    this.#command = message
    // After a long pause of this process, reports are read first.
    this.#startTimer = setTimeout(() => setImmediate(() => this.#onStartOverdue(message)), message.startMs)
    const sandbox = this.#sandbox
    const isReplaced = sandbox?.fingerprint !== undefined && sandbox.fingerprint !== fingerprint(sandbox.args)
    if (isReplaced) this.#breakOff('a folder of it was replaced')
    else if (this.#reached.name !== 'prewarmed') this.#startIfCovered(message)
  }

  /** The hub has opened its ends of the pipes. */
  connected(id: number): void {
    this.#pipes.get(id)?.closeHubEnds()
    this.#pipes.delete(id)
  }

  /** Ends the command with this id, with SIGTERM first, and then everything that is left. */
  stop(id: number, graceMs: number = GRACE_MS): void {
    const state = this.#state
    if (id !== this.#id || state.name === 'exited' || state.name === 'ended') return
    const hasCommand = this.#reached.name === 'running'
    const waitMs = hasCommand ? graceMs : 0
    const killAt = Date.now() + waitMs
    // Another request can only make it sooner.
    if (state.name === 'stopping' && killAt >= state.killAt) return
    this.#state = { name: 'stopping', reached: this.#reached, killAt, why: this.#why }
    if (state.name !== 'stopping' && hasCommand) this.#processes.terminate()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#processes.kill(), waitMs)
  }

  /** Kills everything immediately, whether it has started or not. */
  kill(why: KillReason = this.#why): void {
    const state = this.#state
    if (state.name === 'ended') return
    const killAt = state.name === 'stopping' ? state.killAt : Infinity
    this.#state =
      state.name === 'exited' ? { ...state, why } : { name: 'stopping', reached: this.#reached, killAt, why }
    this.#processes.kill()
  }

  /** Kills processes that are left behind; returns whether any process still lives. */
  killRemaining(): boolean {
    return this.#processes.killRemaining()
  }

  get #reached(): Stage {
    return 'reached' in this.#state ? this.#state.reached : this.#state
  }

  get #why(): KillReason {
    return 'why' in this.#state ? this.#state.why : {}
  }

  get #hasExited(): boolean {
    return this.#state.name === 'exited' || this.#state.name === 'ended'
  }

  #advance(stage: Stage): void {
    this.#state = 'reached' in this.#state ? { ...this.#state, reached: stage } : stage
  }

  #startShell(pipes: ShellPipes): void {
    const env = { ...this.#request.env, ...this.#processes.environment }
    const request = { ...this.#request, isReusable: this.#isReusable }
    const shell = new SandboxShell(request, pipes, env, {
      onPiped: () => this.#onPiped(),
      onReady: () => {
        this.#processes.inspect()
        this.#advance({ name: 'sandboxed' })
        this.#onReady()
      },
      onStarting: () => this.#onStarting(),
      onReportEnd: () => {
        if (this.#reached.name === 'running') this.#reportRunning()
      },
      onRefused: (reason) => this.#report({ type: 'refused', id: this.#id, reason }),
      onExited: (exitCode) => this.#onExited({ exitCode }),
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
    if (!this.#isReusable || this.#hasExited || this.#reached.name !== 'prewarmed') return void this.kill()
    const shell = this.#shell!
    this.#processes.inspect()
    const pid = this.#processes.command
    try {
      if (pid === undefined) throw new Error('its shell cannot be found')
      this.#left ??= new SandboxState(this.#processes.supervisor!, pid)
      if (!this.#left.isUntouched(pid)) throw new Error('a command has changed it')
      const { pipes, started } = CommandPipes.fromShell(pid, shell.descriptors)
      this.#advance({ name: 'sandboxed', started })
      this.#announce(pipes)
    } catch (error) {
      return void this.#breakOff((error as Error).message)
    }
    this.#onReady()
  }

  #onReady(): void {
    const { swappable = [] } = this.#sandbox!
    if (swappable.length > 0 && this.#isReplaced((mounts) => swappedMount({ swappable }, mounts))) return
    if (this.#command) this.#startIfCovered(this.#command)
  }

  /** Watches from before the command exists, so that nothing new appears at a closed path unnoticed. */
  #startIfCovered(message: RunMessage): void {
    // It was broken off or stopped before it was ready.
    if (this.#isReported || this.#state.name === 'stopping') return
    const { closed = [] } = this.#sandbox!
    const mounts = () => this.#processes.mounts(this.#isReusable)
    this.#endCoverWatch = watchCovers({ closed, mounts, onUncovered: (uncovered) => this.kill({ uncovered }) })
    if (closed.length > 0 && this.#isReplaced((found) => detachedMounts(closed, found)[0])) return
    this.#startCommand(message)
  }

  /** Breaks off if a path is found to be replaced, or if the sandbox has ended. */
  #isReplaced(find: (mounts: string) => string | undefined): boolean {
    try {
      const path = find(this.#processes.mounts(this.#isReusable))
      if (path === undefined) return false
      this.#breakOff(`${path} was replaced while the sandbox was made`)
    } catch (error) {
      this.#breakOff((error as Error).message)
    }
    return true
  }

  #startCommand({ script, helper }: RunMessage): void {
    if (helper === undefined) return void this.#shell!.writeCommand(script)
    this.#advance({ ...this.#reached, name: 'sandboxed', isHelperAwaited: true })
    this.#shell!.write(helper)
    this.#timer = setTimeout(() => this.#onHelperLine(''), HELPER_TIMEOUT_MS)
  }

  #onHelperLine(line: string): void {
    const reached = this.#reached
    if (reached.name !== 'sandboxed' || !reached.isHelperAwaited) return
    this.#advance({ ...reached, isHelperAwaited: false })
    // While stopping, the timer is the one that kills.
    if (this.#state.name !== 'stopping') clearTimeout(this.#timer)
    if (line !== '') return void this.#shell!.writeCommand(this.#command!.script)
    this.#reportBroken('the way to the network did not open inside the sandbox')
    this.#processes.kill()
  }

  /** It is killed first: until then, the command may start. */
  #onStartOverdue(message: RunMessage): void {
    if (this.#command !== message || this.#isReported) return
    this.kill({ ...this.#why, broken: `it did not start its command within ${message.startMs} ms` })
  }

  #onStarting(): void {
    const reached = this.#reached
    if (this.#state.name === 'ended') return
    this.#advance({ name: 'running' })
    // At this level, the processes around the command keep the report pipe open until all of them end.
    if (this.#request.level === 'namespaces') this.#reportRunning()
    if (reached.name !== 'sandboxed' || !reached.started) return
    this.#watchEnd()
    const id = this.#id
    // A shell that could not become the command has reported that before, so its report is read first. If the process is
    // gone, its end is reported next.
    const onClose = () => {
      if (id === this.#id && this.#processes.isCommandLiving) this.#reportRunning()
    }
    // Not before the shell has opened its end.
    whenClosed(reached.started, () => setImmediate(onClose))
  }

  /** A command can stop its supervisor, which then does not report the end: it is continued. */
  #watchEnd(overdue = 0): void {
    this.#overdue = setTimeout(() => {
      if (this.#processes.isCommandLiving) return void this.#watchEnd()
      if (overdue > MAX_OVERDUE) return void this.kill()
      this.#processes.continueSupervisor()
      this.#watchEnd(overdue + 1)
    }, OVERDUE_MS)
  }

  /** The supervisor reports how its command ended, or the shell that was to become it. */
  #onExited(exit: Exit): void {
    const reached = this.#reached
    if (!this.#command || (reached.name === 'running' && reached.exit)) return void this.kill()
    if (reached.name === 'running') this.#advance({ ...reached, exit })
  }

  /** The supervisor has ended everything that the command started. */
  #onCleaned(isClean: boolean): void {
    // What it reported may be read after its exit was noticed.
    if (this.#hasExited) return
    clearTimeout(this.#overdue)
    this.#endCoverWatch?.()
    if (this.#state.name === 'running') this.#reportRunning()
    const nextId = this.#command?.nextId
    const exit = this.#state.name === 'running' ? this.#state.exit : undefined
    // Only after a command that ran and ended by itself.
    if (!isClean || !exit || nextId === undefined) return void this.#processes.kill()
    this.#send({ type: 'ended', id: this.#id, ...this.#processes.nameSignal(exit) })
    this.#id = nextId
    this.#command = undefined
    this.#isReported = false
    this.#state = { name: 'prewarmed' }
    this.#shell!.startNext()
  }

  #onExit(exit: Exit): void {
    this.#processes.outermostEnded()
    if (this.#state.name === 'ended') return
    this.#state = { name: 'exited', reached: this.#reached, why: this.#why }
    this.#processes.kill()
    this.#awaitEnd(exit, Date.now() + LAST_OUTPUT_MS, 0)
  }

  #awaitEnd(exit: Exit, until: number, tries: number): void {
    if (this.#state.name === 'ended') return
    // After its start was reported, a command has no more output here.
    const isSilent = this.#isReported || this.#shell!.isClosed || Date.now() > until
    const isDone = isSilent && !this.#processes.killRemaining()
    const again = () => this.#awaitEnd(exit, until, tries + 1)
    // Most processes are gone by now, and the rest takes microseconds. What the shell has reported is read first, also
    // after a long pause of this process: whether the command has started depends on it.
    if (!isDone) return void (tries < 5 ? setImmediate(again) : setTimeout(() => setImmediate(again), 1))
    const reached = this.#reached
    if (reached.name === 'prewarmed') {
      const ended = this.#shell!.stderr || `it ended before its command: ${JSON.stringify(exit)}`
      this.#reportBroken(this.#why.broken ?? ended)
    }
    this.#finish(this.#processes.nameSignal((reached.name === 'running' && reached.exit) || exit))
  }

  #finish(exit: Exit): void {
    const reached = this.#reached
    const why = this.#why
    if (this.#state.name === 'ended') return
    this.#state = { name: 'ended', reached, why }
    for (const timer of [this.#timer, this.#startTimer, this.#overdue]) clearTimeout(timer)
    this.#processes.endKilling()
    this.#endCoverWatch?.()
    if (reached.name === 'sandboxed') reached.started?.close()
    if (reached.name === 'running') this.#reportRunning()
    this.#reportBroken(why.broken ?? 'it was stopped before its command')
    // First, so that the hub does not hand a command to it when this one has ended.
    this.#endNext(this.#command)
    this.#send({ type: 'ended', id: this.#id, ...exit, uncovered: why.uncovered })
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
    clearTimeout(this.#startTimer)
    this.#send(message)
  }
}
