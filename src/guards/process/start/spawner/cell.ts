import { detachedMounts, swappedMount } from '../../jail/swapped-mount.ts'
import type { HubMessage, OpenMessage, SeedMessage, SpawnerMessage } from '../protocol.ts'
import type { Exit } from '../started.ts'
import { CellPipes } from './cell-pipes.ts'
import { CellProcesses } from './cell-processes.ts'
import { CellShell } from './cell-shell.ts'
import { watchCovers } from './cover-watch.ts'
import { fingerprint } from './fingerprint.ts'
import type { PipeStock } from './pipe-stock.ts'

type RunMessage = Extract<HubMessage, { type: 'run' }>

const POLITE_MS = 150
const COMPANION_MS = 5_000
/** How long the last words of what has ended are waited for. */
const LAST_WORDS_MS = 100

/** One jail in the spawner: from its seed, over the command that it is given, to the end of all its processes. */
export class Cell {
  readonly #seed: SeedMessage
  readonly #tell: (message: SpawnerMessage) => void
  readonly #processes: CellProcesses
  #pipes: CellPipes | undefined
  #shell: CellShell | undefined
  #jail: OpenMessage | undefined
  #fingerprint: string | undefined
  #run: RunMessage | undefined
  #isReady = false
  #isGoing = false
  #isTold = false
  #isStopping = false
  #exit: Exit | undefined
  #killAt = Infinity
  #timer: NodeJS.Timeout | undefined
  #uncovered: string | undefined
  #endCoverWatch: (() => void) | undefined

  constructor(seed: SeedMessage, tell: (message: SpawnerMessage) => void) {
    this.#seed = seed
    this.#tell = tell
    this.#processes = new CellProcesses(seed.level)
  }

  /** Starts the seed and tells of its pipes. */
  async start(stock: PipeStock): Promise<void> {
    try {
      const pipes = await CellPipes.take(stock, this.#seed.seccomp)
      this.#pipes = pipes
      if (!this.#isStopping) this.#sow(pipes)
      pipes.closeCommandEnds()
      if (!this.#shell) this.#finish({ signal: 'SIGKILL' })
    } catch (error) {
      this.#broken((error as Error).message)
      this.#finish({})
    }
  }

  /** Makes the seed a jail, now or as soon as it is there. */
  open(message: OpenMessage): void {
    if (message.isAhead) this.#fingerprint = fingerprint(message.args)
    this.#jail = message
    this.#become()
  }

  /** Gives the jail its command, now or as soon as it stands. */
  run(message: RunMessage): void {
    if (this.#fingerprint !== undefined && this.#fingerprint !== fingerprint(this.#jail!.args)) {
      this.#broken('a folder of it was replaced')
      this.stop()
      return
    }
    this.#run = message
    if (this.#isReady) this.#giveIfCovered(message)
  }

  /** The hub has opened its ends. */
  taken(): void {
    this.#pipes?.closeHubEnds()
  }

  /** Ends the command, politely first, and then all that is left. */
  stop(graceMs: number = POLITE_MS): void {
    const isFirst = !this.#isStopping
    this.#isStopping = true
    if (this.#exit) return
    const isRunning = this.#isReady && this.#run !== undefined
    const waitMs = isRunning ? graceMs : 0
    // Who asks again can make it sooner, never later.
    if (Date.now() + waitMs >= this.#killAt) return
    this.#killAt = Date.now() + waitMs
    if (isFirst && isRunning) this.#processes.ask()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.kill(), waitMs)
  }

  /** Ends everything of it at once. */
  kill(): void {
    this.#processes.kill()
  }

  /** The same, whether it has begun or not. */
  leave(): void {
    this.#isStopping = true
    this.kill()
  }

  get isLiving(): boolean {
    return this.#processes.areLiving()
  }

  #sow(pipes: CellPipes): void {
    const env = { ...this.#seed.env, ...this.#processes.environment }
    const shell = new CellShell(this.#seed, pipes, env, {
      stands: () => this.#stands(),
      goes: () => this.#goes(),
      isSilent: () => this.#isGoing && this.#running(),
      refuses: (reason) => this.#say({ type: 'refused', id: this.#seed.id, reason }),
      companionSays: (line) => this.#heardCompanion(line),
      exited: (code, signal) => this.#exited(code, signal),
      failed: (error) => this.#failed(error),
    })
    this.#shell = shell
    if (shell.pid === undefined) return
    this.#processes.outermost(shell.pid)
    this.#tell({ type: 'pipes', id: this.#seed.id, paths: pipes.paths })
    this.#become()
  }

  #become(): void {
    if (!this.#jail || this.#shell?.pid === undefined) return
    try {
      this.#shell.become(this.#jail)
    } catch (error) {
      // What no program can be told, no jail can be made of.
      this.#broken((error as Error).message)
      this.stop()
    }
  }

  #stands(): void {
    this.#isReady = true
    this.#processes.stand()
    const { swappable } = this.#jail!
    const swapped = swappable?.length && swappedMount({ swappable }, this.#processes.mounts())
    if (swapped) {
      this.#broken(`${swapped} was replaced while the sandbox was made`)
      this.stop()
      return
    }
    if (this.#run) this.#giveIfCovered(this.#run)
  }

  /** Watched from before the command is there: nothing new is at a closed path then without being seen. */
  #giveIfCovered(message: RunMessage): void {
    const { closed = [] } = this.#jail!
    const mounts = () => this.#processes.mounts()
    this.#endCoverWatch = watchCovers({ closed, mounts, onUncovered: (path) => this.#uncover(path) })
    const [detached] = closed.length > 0 ? detachedMounts(closed, mounts()) : []
    if (detached === undefined) return void this.#give(message)
    this.#broken(`${detached} was replaced while the sandbox was made`)
    this.stop()
  }

  #uncover(path: string): void {
    this.#uncovered = path
    this.#isStopping = true
    this.kill()
  }

  #goes(): void {
    this.#isGoing = true
    // Here the processes around the command keep the line open, so that its closing would be that of all.
    if (this.#seed.level === 'namespaces') this.#running()
  }

  #give({ script, companion }: RunMessage): void {
    if (companion === undefined) return void this.#shell!.sayLast(script)
    this.#shell!.say(companion)
    this.#timer = setTimeout(() => this.#heardCompanion(''), COMPANION_MS)
  }

  #heardCompanion(line: string): void {
    if (this.#shell!.hasHeardAll) return
    clearTimeout(this.#timer)
    if (line !== '') return void this.#shell!.sayLast(this.#run!.script)
    this.#broken('the way to the network did not open inside the sandbox')
    this.kill()
  }

  #running(): void {
    this.#say({ type: 'running', id: this.#seed.id, pid: this.#processes.command })
  }

  #broken(reason: string): void {
    this.#say({ type: 'broken', id: this.#seed.id, reason })
  }

  /** How the start went is told once. */
  #say(message: SpawnerMessage): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#tell(message)
  }

  #failed(error: Error): void {
    this.#broken(error.message)
    this.#finish({})
  }

  #exited(code: number | null, signal: NodeJS.Signals | null): void {
    clearTimeout(this.#timer)
    this.#exit = { ...(code !== null && { exitCode: code }), ...(signal !== null && { signal }) }
    this.#processes.outermostEnded()
    this.#processes.kill()
    this.#leaveNothing(Date.now() + LAST_WORDS_MS, 0)
  }

  #leaveNothing(until: number, tries: number): void {
    // A command whose start was told has no more words here.
    const isSilent = this.#isTold || this.#shell!.isClosed || Date.now() > until
    const isDone = isSilent && !this.#processes.areLiving()
    const again = () => this.#leaveNothing(until, tries + 1)
    // Most are gone by now, and the rest is a matter of microseconds.
    if (!isDone) return void (tries < 5 ? setImmediate(again) : setTimeout(again, 1))
    if (!this.#isReady) {
      this.#broken(this.#shell!.words || `it ended before its command: ${JSON.stringify(this.#exit)}`)
    }
    if (this.#isGoing) this.#running()
    this.#finish(this.#processes.nameSignal(this.#exit!))
  }

  #finish(exit: Exit): void {
    clearTimeout(this.#timer)
    this.#endCoverWatch?.()
    // Nobody was told of them.
    if (this.#shell?.pid === undefined) this.taken()
    this.#broken('it was stopped before its command')
    this.#tell({ type: 'ended', id: this.#seed.id, ...exit, uncovered: this.#uncovered })
  }
}
