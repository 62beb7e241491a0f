import { type Clock, ToolError } from '../../core/index.ts'
import { isWithin } from '../../lib/index.ts'
import { isHarmlessGitFile } from './git-folder.ts'
import { forEachUnfinished, Ledger, type UnfinishedCommands } from './ledger.ts'
import { type SetAside, setAside } from './open-below.ts'
import { type ProtectedPlace, Survey, type SurveyFindings, type SurveyOptions } from './survey.ts'

/** What a keeper of protected places needs. */
export interface PlaceKeeperOptions extends SurveyOptions {
  readonly clock: Clock
  /** The roots that no command can change: what comes there is the owner's. Default: none. */
  readonly readOnly?: () => Promise<readonly string[]>
  /** Where is noted what was there before commands ran; nothing is noted without. */
  readonly ledgerFolder?: string
  /** How many times longer to wait between two looks than for commands, for what runs all the time. Default: 1. */
  readonly pace?: number
}

/** A command that runs, as far as protected places are concerned. */
export interface KeptCommand {
  /** Something that a command made was set aside. */
  readonly onSetAside?: (done: SetAside) => void
  /** Ends the command: it, or one that runs at the same time, makes the same place again and again. */
  readonly stop?: () => void
}

type Places = ReadonlyMap<string, ProtectedPlace>

/** What has been there since before the first command began, and which roots none can change. */
interface Beginning {
  readonly before: Map<string, ProtectedPlace>
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
 * owner; as long as any command runs, also of another hub with the same data folder, what comes counts as the command's.
 */
export class PlaceKeeper {
  readonly #options: PlaceKeeperOptions
  readonly #survey: Survey
  readonly #ledger: Ledger | undefined
  readonly #pace: number
  readonly #running = new Set<KeptCommand>()
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
  look(): Promise<SurveyFindings> {
    return this.#survey.look()
  }

  /** A command is about to start; returns what its sandbox must close. */
  async enter(command: KeptCommand): Promise<SurveyFindings> {
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
  async leave(command: KeptCommand): Promise<void> {
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
    const { ledgerFolder } = this.#options
    if (ledgerFolder !== undefined) await recoverPlaces(ledgerFolder, (done) => this.#notify(done))
    const { places, problem } = await this.#survey.look()
    if (problem) throw problem
    // What others had set aside before this is read is gone at the next look.
    const others = (await this.#ledger?.others()) ?? []
    const isOwners = (place: ProtectedPlace) => !others.some((other) => this.#isMadeFor(other, place))
    const before = new Map([...places].filter(([path, place]) => !this.#stuck.has(path) && isOwners(place)))
    const readOnly = (await this.#options.readOnly?.()) ?? []
    this.#ledger?.write(before, readOnly)
    return { before, readOnly }
  }

  /** Whether it came while commands of the other ran: the owner's only where the other does not know that it is protected. */
  #isMadeFor({ before, roots, readOnly, hidden, exact }: UnfinishedCommands, place: ProtectedPlace): boolean {
    const isByName = !place.isOnWay && place.behind === undefined && !this.#options.exact.includes(place.path)
    if (!isByName && !this.#options.exact.every((path) => exact.includes(path))) return false
    if (!roots.some((root) => isWithin(root, place.path))) return false
    if (hidden.some((folder) => isWithin(folder, place.path))) return false
    return !isOnlyRead(place.path, { roots, readOnly }) && !isOwned(before, place)
  }

  #notify(done: SetAside): void {
    for (const command of this.#running) command.onSetAside?.(done)
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
  async #sweep(): Promise<SurveyFindings> {
    const { before, readOnly } = await this.#beginning!
    const findings = await this.#survey.look()
    const isChanged = !findings.problem && forgetMissing(before, findings)
    if (isChanged || this.#ledger?.isKept() === false) this.#ledger?.write(before, readOnly)
    const made = madeSince(before, findings, { roots: this.#options.roots, readOnly })
    this.#stuck.clear()
    for (const place of made) {
      const done = setAside(this.#options.roots, place.path, before.get(place.path)?.link)
      if (!done) continue
      if (done.problem !== undefined) this.#stuck.set(place.path, done.problem)
      this.#notify(done)
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

interface Folders {
  readonly roots: readonly string[]
  readonly readOnly: readonly string[]
}

/** What was not there before, or was another link, and could make a program run it. */
function madeSince(before: Places, { places, gitFolders }: SurveyFindings, folders: Folders): ProtectedPlace[] {
  const known = new Set(gitFolders)
  const context = {
    isKnown: (gitFolder: string) => known.has(gitFolder),
    isInRoots: (path: string) => folders.roots.some((root) => isWithin(root, path)),
  }
  return [...places.values()].filter((place) => {
    if (isOnlyRead(place.path, folders) || isOwned(before, place)) return false
    const behind = place.behind === undefined ? undefined : places.get(place.behind)
    if (place.behind !== undefined && !(behind && isOwned(before, behind))) return false
    return !place.isGit || place.link !== undefined || !isHarmlessGitFile(place.path, context)
  })
}

/** What was a file or a folder is mounted read-only; only a link can have been replaced. */
function isOwned(before: Places, place: ProtectedPlace): boolean {
  const owned = before.get(place.path)
  return owned !== undefined && (owned.link === undefined || owned.link === place.link)
}

/** A root can lie in another one: the inner one counts. */
function isOnlyRead(path: string, { roots, readOnly }: Folders): boolean {
  if (readOnly.length === 0) return false
  const [inner] = roots.filter((root) => isWithin(root, path)).sort((a, b) => b.length - a.length)
  return readOnly.includes(inner!)
}

/**
 * What is gone is nobody's: the owner has removed it, or another hub that saw a command make it. Nothing is mounted there
 * for commands that start from now on, so they could make it again. Returns whether there was any.
 */
function forgetMissing(before: Map<string, ProtectedPlace>, { places }: SurveyFindings): boolean {
  const missing = [...before.keys()].filter((path) => !places.has(path))
  for (const path of missing) before.delete(path)
  return missing.length > 0
}

function cannotSetAside(path: string, problem: string): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `A command made ${path}, which is protected, and it could not be renamed: ${problem}.`,
    { hint: 'Look at it, then remove it; until then, no command runs and no hub starts.' },
  )
}
