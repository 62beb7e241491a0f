import type { Clock } from '../../../clock.ts'
import type { CommandState } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import { commandId } from './command-id.ts'
import type { OwnedCommand } from './owned-command.ts'

/** A background command that went away with an earlier hub. */
export interface LostCommand {
  readonly run: string
  readonly id: string
  readonly command: string
  readonly startedAt: string
}

const KEPT_MS = 30 * 60_000
const MOST_FINISHED = 64
const MOST_RUNNING = 32

/** The background commands, each only for the run that started it. */
export class ProcessTable {
  readonly #clock: Clock
  readonly #runs = new Map<string, Map<string, OwnedCommand>>()
  readonly #lost = new Map<string, Map<string, CommandState>>()
  /** In the order of their end. */
  readonly #finished = new Map<OwnedCommand, () => void>()

  constructor(clock: Clock, lost: readonly LostCommand[] = []) {
    this.#clock = clock
    for (const command of lost) entryOf(this.#lost, command.run).set(command.id, lostState(command))
  }

  newId(run: string): string {
    return commandId((id) => this.#runs.get(run)?.has(id) === true || this.#lost.get(run)?.has(id) === true)
  }

  /** Takes a command that goes on in the background. */
  add(command: OwnedCommand): void {
    const { run } = command.call
    const commands = entryOf(this.#runs, run)
    const running = [...commands.values()].filter(({ isRunning }) => isRunning).length
    if (command.isRunning && running >= MOST_RUNNING) throw tooMany(running)
    commands.set(command.id, command)
    void command.ended().then(() => this.#keepFinished(command))
  }

  find(run: string, id: string): OwnedCommand | undefined {
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

  /** Ends what a run has in the background and forgets it. */
  async endRun(run: string): Promise<void> {
    const commands = [...(this.#runs.get(run)?.values() ?? [])]
    this.#lost.delete(run)
    await Promise.all(commands.map((command) => command.forget()))
    for (const command of commands) this.#drop(command)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.keys()].map((run) => this.endRun(run)))
  }

  #keepFinished(command: OwnedCommand): void {
    if (this.find(command.call.run, command.id) !== command) return
    const cancel = this.#clock.after(KEPT_MS, () => this.#drop(command), { background: true })
    this.#finished.set(command, cancel)
    const ofRun = [...this.#finished.keys()].filter(({ call }) => call.run === command.call.run)
    if (ofRun.length > MOST_FINISHED) this.#drop(ofRun[0]!)
  }

  #drop(command: OwnedCommand): void {
    const { run } = command.call
    this.#finished.get(command)?.()
    this.#finished.delete(command)
    const commands = this.#runs.get(run)
    commands?.delete(command.id)
    if (commands?.size === 0) this.#runs.delete(run)
    // An unfinished file that cannot be removed is swept with the run's folder.
    command.forget().catch(() => undefined)
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
  return new ToolError('CONFLICT', `${running} commands of this run are in the background, which is the most.`, {
    hint: 'Wait for one to end, or kill one that is not needed.',
  })
}
