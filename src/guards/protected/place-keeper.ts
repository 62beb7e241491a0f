import type { Clock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import { isWithin } from '../is-within.ts'
import { isHarmlessGitFile } from './git-folder.ts'
import { forEachUnfinished, Ledger } from './ledger.ts'
import { type SetAside, setAside } from './set-aside.ts'
import { type Findings, type ProtectedPlace, Survey, type SurveyOptions } from './survey.ts'

/** What a keeper of protected places needs. */
export interface PlaceKeeperOptions extends SurveyOptions {
  readonly clock: Clock
  /** The roots that no command can change: what comes there is the owner's. None unless said. */
  readonly readOnly?: () => Promise<readonly string[]>
  /** Where is noted what was there before commands ran; nothing is noted without. */
  readonly ledgerFolder?: string
  /** How many times longer to wait between two looks than for commands, for what runs all the time. Default: 1. */
  readonly pace?: number
}

/** A command that runs, as far as protected places are concerned. */
export interface RunningCommand {
  /** Something that a command made was set aside. */
  readonly onSetAside?: (done: SetAside) => void
  /** Ends the command: it, or one that runs at the same time, makes the same place again and again. */
  readonly stop?: () => void
}

type Places = ReadonlyMap<string, ProtectedPlace>

/** What was there before the first command began, and which roots none can change. */
interface Beginning {
  readonly before: Places
  readonly readOnly: readonly string[]
}

const INTERVAL_MS = 100
/** Looking takes at most a tenth of the time. */
const REST = 10
/** How often a place may be made again before the commands that run are stopped. */
const MAX_REPEATS = 5

/**
 * Keeps protected places as they were while commands run. A sandbox can mount read-only what is there; what a command
 * makes where nothing was, such as settings of an editor or a config of the hub, is renamed as soon as it is seen: many
 * times a second, and once more when the command has ended. What was there before the first command began belongs to the
 * owner; as long as any command runs, what comes counts as the command's.
 */
export class PlaceKeeper {
  readonly #options: PlaceKeeperOptions
  readonly #survey: Survey
  readonly #ledger: Ledger | undefined
  readonly #pace: number
  readonly #running = new Set<RunningCommand>()
  readonly #repeats = new Map<string, number>()
  /** What could not be set aside: no command runs while it is there. */
  readonly #stuck = new Map<string, string>()
  #beginning: Promise<Beginning> | undefined
  #cancelLook: (() => void) | undefined

  constructor(options: PlaceKeeperOptions) {
    this.#options = options
    this.#pace = options.pace ?? 1
    this.#survey = new Survey(options)
    this.#ledger = options.ledgerFolder === undefined ? undefined : new Ledger(options.ledgerFolder, options)
  }

  /** What is there right now, for people. */
  look(): Promise<Findings> {
    return this.#survey.look()
  }

  /** A command is about to start; returns what its sandbox must close. */
  async enter(command: RunningCommand): Promise<Findings> {
    this.#running.add(command)
    this.#beginning ??= this.#begin()
    await this.#beginning
    const findings = await this.#sweep()
    const [stuck] = this.#stuck
    if (stuck) throw cannotSetAside(...stuck)
    this.#lookLater(INTERVAL_MS * this.#pace)
    return findings
  }

  /** A command has ended, or did not start. */
  async leave(command: RunningCommand): Promise<void> {
    let isSwept = false
    try {
      // Where the beginning failed, nothing has started that could have made anything.
      if (await this.#beginning?.catch(() => undefined)) await this.#sweep()
      isSwept = true
    } finally {
      this.#running.delete(command)
      if (this.#running.size === 0) this.#end(isSwept)
    }
  }

  async #begin(): Promise<Beginning> {
    const { places, problem } = await this.#survey.look()
    if (problem) throw problem
    const before = new Map([...places].filter(([path]) => !this.#stuck.has(path)))
    const readOnly = (await this.#options.readOnly?.()) ?? []
    this.#ledger?.write(before, readOnly)
    return { before, readOnly }
  }

  #end(isSwept: boolean): void {
    this.#cancelLook?.()
    this.#cancelLook = undefined
    this.#repeats.clear()
    // What could not be looked at may hold something of a command: the next one, and the next hub, compare with the same.
    if (!isSwept) return
    this.#beginning = undefined
    // What is stuck is still a command's, also for the next hub.
    if (this.#stuck.size === 0) this.#ledger?.clear()
  }

  #lookLater(ms: number): void {
    this.#cancelLook ??= this.#options.clock.after(ms, () => void this.#lookAgain(), { background: true })
  }

  async #lookAgain(): Promise<void> {
    const beganAt = performance.now()
    // What fails now is found by the look at the end of the command, which says so.
    await this.#sweep().catch(() => undefined)
    this.#cancelLook = undefined
    const restMs = Math.max(INTERVAL_MS, REST * (performance.now() - beganAt)) * this.#pace
    if (this.#running.size > 0) this.#lookLater(restMs)
  }

  /** Sets aside what has come since commands run; returns what is there then. */
  async #sweep(): Promise<Findings> {
    const { before, readOnly } = await this.#beginning!
    const findings = await this.#survey.look()
    const made = madeSince(before, findings, { roots: this.#options.roots, readOnly })
    this.#stuck.clear()
    for (const place of made) {
      const done = setAside(this.#options.roots, place.path, before.get(place.path)?.link)
      if (!done) continue
      if (done.problem !== undefined) this.#stuck.set(place.path, done.problem)
      for (const command of this.#running) command.onSetAside?.(done)
      this.#countRepeat(place.path)
    }
    const left = made.length === 0 ? findings : await this.#survey.look()
    if (left.problem) throw left.problem
    return left
  }

  #countRepeat(path: string): void {
    const count = (this.#repeats.get(path) ?? 0) + 1
    this.#repeats.set(path, count)
    if (count > MAX_REPEATS) for (const command of this.#running) command.stop?.()
  }
}

/**
 * Sets aside what commands have made whose hub no longer exists; `onSetAside` is called for each. Throws when something
 * stays, which would be believed otherwise; then the next call tries again.
 */
export async function recoverPlaces(ledgerFolder: string, onSetAside: (done: SetAside) => void): Promise<void> {
  await forEachUnfinished(ledgerFolder, async ({ before, readOnly, ...options }) => {
    const findings = await new Survey(options).look()
    const made = madeSince(before, findings, { roots: options.roots, readOnly })
    const done = made.flatMap(({ path }) => setAside(options.roots, path, before.get(path)?.link) ?? [])
    for (const each of done) onSetAside(each)
    const stuck = done.find(({ problem }) => problem !== undefined)
    if (stuck) throw cannotSetAside(stuck.path, stuck.problem!)
    if (findings.problem) throw findings.problem
  })
}

/** What was not there before, or was another link, and could make somebody run it. */
function madeSince(
  before: Places,
  { places, gitFolders }: Findings,
  { roots, readOnly }: { readonly roots: readonly string[]; readonly readOnly: readonly string[] },
): ProtectedPlace[] {
  const known = new Set(gitFolders)
  const context = {
    isKnown: (gitFolder: string) => known.has(gitFolder),
    isInRoots: (path: string) => roots.some((root) => isWithin(root, path)),
  }
  // A root can lie in another one: the inner one counts.
  const rootOf = (path: string) => roots.filter((root) => isWithin(root, path)).sort((a, b) => b.length - a.length)[0]
  const isOwned = (place: ProtectedPlace | undefined) => {
    const owned = place && before.get(place.path)
    // What was a file or a folder is mounted read-only; only a link can have been replaced.
    return owned !== undefined && (owned.link === undefined || owned.link === place!.link)
  }
  return [...places.values()].filter((place) => {
    if (readOnly.length > 0 && readOnly.includes(rootOf(place.path)!)) return false
    if (isOwned(place) || (place.behind !== undefined && !isOwned(places.get(place.behind)))) return false
    return !place.isGit || place.link !== undefined || !isHarmlessGitFile(place.path, context)
  })
}

function cannotSetAside(path: string, problem: string): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `A command made ${path}, which is protected, and it could not be renamed: ${problem}.`,
    { hint: 'Look at it, then remove it; until then, no command runs and no hub starts.' },
  )
}
