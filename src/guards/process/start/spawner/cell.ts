import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { swappedMount } from '../../jail/swapped-mount.ts'
import { descriptorsFor, GOING, READY, readyScript } from '../launch-script.ts'
import type { HubMessage, OpenMessage, SpawnerMessage } from '../protocol.ts'
import { readLines } from '../read-lines.ts'
import { CellPipes } from './cell-pipes.ts'
import { CellProcesses } from './cell-processes.ts'
import { fingerprint } from './fingerprint.ts'
import type { PipeStock } from './pipe-stock.ts'

type RunMessage = Extract<HubMessage, { type: 'run' }>
type Exit = { exitCode?: number; signal?: string }

const POLITE_MS = 150
const COMPANION_MS = 5_000
/** How long the last words of what has ended are waited for. */
const LAST_WORDS_MS = 100
const MOST_WORDS = 4096

/** One jail in the spawner: from its start, over the command that it is given, to the end of all its processes. */
export class Cell {
  readonly #order: OpenMessage
  readonly #tell: (message: SpawnerMessage) => void
  readonly #processes: CellProcesses
  readonly #fingerprint: string | undefined
  #pipes: CellPipes | undefined
  #child: ChildProcess | undefined
  #run: RunMessage | undefined
  #words = ''
  #isReady = false
  #isGoing = false
  #isTold = false
  #isStopping = false
  #isClosed = false
  #exit: Exit | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(order: OpenMessage, tell: (message: SpawnerMessage) => void) {
    this.#order = order
    this.#tell = tell
    this.#processes = new CellProcesses(order.level)
    if (order.isAhead) this.#fingerprint = fingerprint(order.args)
  }

  /** Starts the jail and tells of its pipes. */
  async open(stock: PipeStock): Promise<void> {
    try {
      const pipes = await CellPipes.take(stock, this.#order.seccomp)
      this.#pipes = pipes
      if (!this.#isStopping) this.#child = this.#spawn(pipes)
      pipes.closeCommandEnds()
      if (!this.#child) this.#finish({ signal: 'SIGKILL' })
    } catch (error) {
      this.#broken((error as Error).message)
      this.#finish({})
    }
  }

  /** Gives the jail its command, now or as soon as it stands. */
  run(message: RunMessage): void {
    if (this.#fingerprint !== undefined && this.#fingerprint !== fingerprint(this.#order.args)) {
      this.#broken('a folder of it was replaced')
      this.stop()
      return
    }
    this.#run = message
    if (this.#isReady) this.#give(message)
  }

  /** The hub has opened its ends. */
  taken(): void {
    this.#pipes?.closeHubEnds()
  }

  /** Ends the command, politely first, and then all that is left. */
  stop(): void {
    if (this.#isStopping) return
    this.#isStopping = true
    if (this.#exit) return
    const isRunning = this.#isReady && this.#run !== undefined
    if (isRunning) this.#processes.ask()
    this.#timer = setTimeout(() => this.kill(), isRunning ? POLITE_MS : 0)
  }

  /** Ends everything of it at once. */
  kill(): void {
    this.#processes.kill()
  }

  get isLiving(): boolean {
    return this.#processes.areLiving()
  }

  #spawn(pipes: CellPipes): ChildProcess {
    const at = descriptorsFor(this.#order)
    const child = spawn(this.#order.file, this.#order.args.concat('/bin/sh'), {
      cwd: '/',
      env: { ...this.#order.env, ...this.#processes.environment },
      stdio: pipes.stdio(at, this.#order.hasCompanion),
      detached: true,
    })
    child.on('error', (error) => this.#spawnFailed(error))
    if (child.pid === undefined) return child
    this.#processes.outermost(child.pid)
    this.#tell({ type: 'pipes', id: this.#order.id, paths: pipes.paths })
    child.on('exit', (code, signal) => this.#exited(code, signal))
    child.on('close', () => {
      this.#isClosed = true
    })
    const [script, output, errors] = child.stdio
    this.#listen(script!, errors as Readable, child.stdio[at.report] as Readable)
    // Its first line says enough; what else it writes is nobody's, and nothing of it is kept.
    output?.on('data', (bytes: Buffer) => this.#heardCompanion(bytes.toString('utf8').split('\n')[0]!))
    script!.write(readyScript(at))
    return child
  }

  #listen(script: Writable, errors: Readable, report: Readable): void {
    // What breaks these is the end of the process, which is heard of anyway.
    for (const stream of [script, errors, report]) stream.on('error', () => {})
    errors.on('data', (bytes: Buffer) => {
      if (this.#words.length < MOST_WORDS) this.#words += bytes.toString('utf8', 0, MOST_WORDS)
    })
    readLines(report, (line) => this.#heard(line))
    // The command has taken the place of the shell.
    report.on('end', () => this.#isGoing && this.#running())
  }

  #heard(line: string): void {
    if (line === READY) this.#stands()
    else if (line === GOING) this.#goes()
    else this.#say({ type: 'refused', id: this.#order.id, reason: line })
  }

  #stands(): void {
    this.#isReady = true
    const pids = this.#processes.standing()
    const swapped = this.#order.swappable?.length && swappedMount(this.#order, this.#processes.mounts())
    if (swapped) {
      this.#broken(`${swapped} was replaced while the sandbox was made`)
      this.stop()
      return
    }
    this.#tell({ type: 'ready', id: this.#order.id, pids })
    if (this.#run) this.#give(this.#run)
  }

  #goes(): void {
    this.#isGoing = true
    // Here the processes around the command keep the line open, so that its closing would be that of all.
    if (this.#order.level === 'namespaces') this.#running()
  }

  #give({ script, companion }: RunMessage): void {
    if (companion === undefined) return void this.#child!.stdin!.end(script)
    this.#child!.stdin!.write(companion)
    this.#timer = setTimeout(() => this.#heardCompanion(''), COMPANION_MS)
  }

  #heardCompanion(line: string): void {
    if (this.#child!.stdin!.writableEnded) return
    clearTimeout(this.#timer)
    if (line !== '') return void this.#child!.stdin!.end(this.#run!.script)
    this.#broken('the way to the network did not open inside the sandbox')
    this.kill()
  }

  #running(): void {
    this.#say({ type: 'running', id: this.#order.id })
  }

  #broken(reason: string): void {
    this.#say({ type: 'broken', id: this.#order.id, reason })
  }

  /** How the start went is told once. */
  #say(message: SpawnerMessage): void {
    if (this.#isTold) return
    this.#isTold = true
    this.#tell(message)
  }

  #spawnFailed(error: Error): void {
    if (this.#child?.pid !== undefined) return
    this.#broken(error.message)
    this.taken()
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
    const isDone = !this.#processes.areLiving() && (this.#isClosed || Date.now() > until)
    const again = () => this.#leaveNothing(until, tries + 1)
    // Most are gone by now, and the rest is a matter of microseconds.
    if (!isDone) return void (tries < 5 ? setImmediate(again) : setTimeout(again, 1))
    if (!this.#isReady) this.#broken(this.#words.trim() || `it ended before its command: ${JSON.stringify(this.#exit)}`)
    if (this.#isGoing) this.#running()
    this.#finish(this.#processes.nameSignal(this.#exit!))
  }

  #finish(exit: Exit): void {
    clearTimeout(this.#timer)
    // Nobody was told of them.
    if (this.#child?.pid === undefined) this.taken()
    this.#broken('it was stopped before its command')
    this.#tell({ type: 'ended', id: this.#order.id, ...exit })
  }
}
