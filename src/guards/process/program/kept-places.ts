import type { RunningProgram } from '../../../contracts/commands.ts'
import { PlaceKeeper, type RunningCommand } from '../../protected/place-keeper.ts'
import type { SetAside } from '../../protected/set-aside.ts'
import type { Findings } from '../../protected/survey.ts'
import type { ProgramMachine } from './start-program.ts'

/** A program runs as long as its hub: a look each second, and a hundredth of the time. */
const PACE = 10

/** Keeps protected places in the folders that a program may change as they were before it began, like those of commands. */
export class KeptPlaces {
  readonly #keeper: PlaceKeeper
  readonly #running: RunningCommand = {
    onSetAside: warn,
    stop: () => void this.#program?.stop().catch(() => undefined),
  }
  #program: RunningProgram | undefined

  constructor(writable: readonly string[], { protect, hidden, ledgerFolder, clock }: ProgramMachine) {
    const roots = writable.filter((path) => !writable.some((other) => path.startsWith(`${other}/`)))
    const ledger = roots.length > 0 ? ledgerFolder : undefined
    this.#keeper = new PlaceKeeper({ roots, exact: protect, hidden, ledgerFolder: ledger, clock, pace: PACE })
  }

  /** Returns what its sandbox must close. */
  keep(): Promise<Findings> {
    return this.#keeper.enter(this.#running)
  }

  /** This program is stopped when it makes the same place again and again. */
  stopWith(program: RunningProgram): void {
    this.#program = program
  }

  async release(): Promise<void> {
    await this.#keeper.leave(this.#running)
  }
}

function warn({ path, movedTo, problem }: SetAside): void {
  const outcome = problem === undefined ? `It is ${movedTo} now` : `It could not be renamed (${problem}): look at it`
  process.emitWarning(
    `${path} was made while a program in a sandbox ran that may change its folder, and is protected. ${outcome}.`,
    'ToolHubWarning',
  )
}
