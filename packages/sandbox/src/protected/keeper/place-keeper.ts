import { type Clock, messageOf, ToolError } from '@tool-hub/core'
import { isWithin } from '@tool-hub/core/lib'
import { describeReports, type PlaceReport, type ProtectedPlace } from '../checks/index.ts'
import { type SetAside, setAside } from '../disk/index.ts'
import { RunLaterFiles } from '../repository/index.ts'
import { type LookOptions, Survey, type SurveyFindings, type SurveyOptions } from '../survey/index.ts'
import { forEachUnfinished, Ledger, type UnfinishedCommands } from './ledger.ts'
import { type KeptFindings, MadeByCommands } from './made-by-commands.ts'
import { innermostGitFolder, isOnlyRead, isOwned, madeSince } from './made-since.ts'
import { type RunLaterChange, RunLaterWatch } from './run-later-watch.ts'

/** The settings of a keeper of protected places. */
export interface PlaceKeeperOptions extends SurveyOptions {
  readonly clock: Clock
  /** The roots that no command can change: what appears there is the owner's. Default: none. */
  readonly readOnly?: () => Promise<readonly string[]>
  /** Further folders that commands can read: only sockets and pipes are looked for there. Default: none. */
  readonly readable?: readonly string[]
  /** Where the state before commands ran is recorded. Default: nothing is recorded. */
  readonly ledgerFolder?: string
  /** Multiplies the pause between two checks, for programs that run all the time. Default: 1. */
  readonly pace?: number
}

/** What the keeper uses of a running command. */
export interface KeptCommand {
  /** Called when something that a command created was set aside. */
  readonly onSetAside?: (done: SetAside) => void
  /** Called with a sentence about something that a command made and that stays, but that the owner should know about. */
  readonly onReport?: (text: string) => void
  /** Called when commands have changed files that other programs run or obey later. */
  readonly onRunLater?: (changed: readonly RunLaterChange[]) => void
  /** Ends the command: it, or one that runs at the same time, creates the same place again and again. */
  readonly stop?: () => void
}

/** What existed before the first command began, and the roots that no command can change. */
interface Beginning {
  readonly before: Map<string, ProtectedPlace>
  readonly readOnly: readonly string[]
  readonly startedMs: number
  /** What was there, and what was reported to the owner since. */
  readonly reported: Set<string>
}

const INTERVAL_MS = 100
/** Complete checks take at most a quarter of the time; between them, the most likely places are checked. */
const REST = 3
/** Every so many checks, those of `node_modules` are complete, too. */
const CODE_EVERY = 10
/** How often what was set aside may show more of the same in one check. */
const MAX_ROUNDS = 50
/** Of the repositories that commands have made. */
const MAX_MADE_CLOSED = 50
/** How often a place may be created again before the running commands are stopped. */
const MAX_REPEATS = 5

/**
 * Keeps protected places as they were while commands run. A sandbox can mount existing files read-only; what a command
 * creates where nothing was, such as settings of an editor or a config of the hub, is renamed as soon as it is found: the
 * places are checked many times a second, and once more after the command has ended. What existed before the first
 * command began belongs to the owner; what appears while any command runs, also of another hub with the same data folder,
 * counts as created by the command.
 */
export class PlaceKeeper {
  readonly #options: PlaceKeeperOptions
  readonly #survey: Survey
  readonly #made: MadeByCommands
  readonly #ledger: Ledger | undefined
  readonly #pace: number
  readonly #running = new Set<KeptCommand>()
  readonly #repeats = new Map<string, number>()
  /** What could not be set aside: no command starts while it exists. */
  readonly #stuck = new Map<string, string>()
  readonly #later: RunLaterWatch
  #beginning: Promise<Beginning> | undefined
  #cancelLook: (() => void) | undefined
  /** How many of the running commands have ended and are being checked. */
  #leaving = 0
  #nextSweepAt = 0
  #sweeps = 0

  constructor(options: PlaceKeeperOptions) {
    this.#options = options
    this.#pace = options.pace ?? 1
    const runLater = new RunLaterFiles()
    this.#survey = new Survey(options, runLater)
    this.#later = new RunLaterWatch(options.roots, runLater)
    this.#made = new MadeByCommands(options)
    this.#ledger = options.ledgerFolder === undefined ? undefined : new Ledger(options.ledgerFolder, options)
  }

  /** The current state, for descriptions. */
  async look(): Promise<KeptFindings> {
    return withoutLoose(await this.#made.mark(await this.#survey.look(), { isBegun: this.#beginning !== undefined }))
  }

  /** Call before a command starts; returns what its sandbox must close. */
  async enter(command: KeptCommand): Promise<KeptFindings> {
    this.#running.add(command)
    this.#beginning ??= this.#begin()
    const { before } = await this.#beginning
    const findings = await this.#made.mark(await this.#sweep({ isCodeKnown: true }))
    const [stuck] = this.#stuck
    if (stuck) throw cannotSetAside(...stuck)
    this.#later.begin(findings)
    this.#lookLater(INTERVAL_MS * this.#pace)
    return withoutLoose(findings, before)
  }

  /** Call when a command has ended or did not start. */
  async leave(command: KeptCommand): Promise<void> {
    let isSwept = false
    this.#leaving++
    try {
      // If the start failed, no command has run that could have created anything.
      const beginning = await this.#beginning?.catch(() => undefined)
      const isLast = this.#leaving === this.#running.size
      const findings = beginning && (await this.#sweep({ since: beginning.startedMs, isLast }))
      isSwept = true
      await this.#made.save()
      const changed = findings ? this.#later.changed(findings) : []
      if (changed.length > 0) for (const each of this.#running) each.onRunLater?.(changed)
    } catch (error) {
      // Nobody waits for the end of a check: the owner would not know of it.
      command.onReport?.(`What this command left was not checked: ${messageOf(error)} ${UNCHECKED}`)
      throw error
    } finally {
      this.#running.delete(command)
      this.#leaving--
      if (this.#running.size === 0) this.#end(isSwept)
    }
  }

  async #begin(): Promise<Beginning> {
    const { ledgerFolder } = this.#options
    if (ledgerFolder !== undefined) await recoverPlaces(ledgerFolder, (done) => this.#notify(done))
    const startedMs = Date.now()
    const findings = await this.#survey.look({ isBeginning: true })
    const { places, reports, problem } = findings
    if (problem) throw problem
    await this.#made.begin(findings)
    // What others set aside before this is read is missing at the next check.
    const others = (await this.#ledger?.others()) ?? []
    const isOwners = (place: ProtectedPlace) => !others.some((other) => this.#isMadeFor(other, place))
    const readOnly = (await this.#options.readOnly?.()) ?? []
    const isLoose = inLooseFolder(findings, await this.#made.note(findings))
    const { roots } = this.#options
    const harmful = new Set(madeSince(new Map(), findings, { roots, readOnly }).map(({ path }) => path))
    const before = new Map(
      [...places].filter(
        ([path, place]) => !this.#stuck.has(path) && isOwners(place) && (!isLoose(path) || harmful.has(path)),
      ),
    )
    this.#ledger?.write(before, { readOnly, startedMs })
    return { before, readOnly, startedMs, reported: new Set(reports.map(keyOf)) }
  }

  /** Whether it appeared while commands of the other ran; the owner's only if the other does not protect it. */
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
    this.#later.end()
    // What could not be checked may contain something of a command: the next command and the next hub compare with the same state.
    if (!isSwept) return
    this.#beginning = undefined
    // What could not be set aside still counts as a command's, also for the next hub.
    if (this.#stuck.size === 0) this.#ledger?.clear()
  }

  #lookLater(ms: number): void {
    this.#cancelLook ??= this.#options.clock.after(ms, () => void this.#lookAgain(), { background: true })
  }

  async #lookAgain(): Promise<void> {
    const beganAt = performance.now()
    // The check at the end of the command finds the same failure and reports it.
    const isCodeKnown = ++this.#sweeps % CODE_EVERY !== 0
    const check = beganAt < this.#nextSweepAt ? this.#glance() : this.#sweep({ isCodeKnown })
    await check.catch(() => undefined)
    const restMs = Math.max(0, REST * (performance.now() - beganAt) - INTERVAL_MS)
    if (beganAt >= this.#nextSweepAt) this.#nextSweepAt = performance.now() + restMs * this.#pace
    this.#cancelLook = undefined
    if (this.#running.size > 0) this.#lookLater(INTERVAL_MS * this.#pace)
  }

  /** Sets aside what has appeared at the most likely places. */
  async #glance(): Promise<void> {
    this.#setAsideMade(await this.#beginning!, this.#survey.glance())
  }

  /** Sets aside what has appeared since commands run; returns the state after that. */
  async #sweep({ isLast, ...options }: LookOptions & { isLast?: boolean }): Promise<SurveyFindings> {
    const current = this.#beginning!
    const beginning = await current
    const { before, readOnly, startedMs } = beginning
    const findings = await this.#survey.look({ ...options, objects: { changedSinceMs: startedMs, isLast } })
    // The last command has ended meanwhile: what is found now is not its, and its ledger is gone.
    if (this.#beginning !== current) return findings
    const isChanged = !findings.problem && forgetMissing(before, findings)
    if (isChanged || this.#ledger?.isKept() === false) this.#ledger?.write(before, { readOnly, startedMs })
    this.#stuck.clear()
    let left = findings
    // What was set aside has a new name, under which more can be found, in `node_modules` too.
    for (let round = 0; !this.#setAsideMade(beginning, left) && this.#stuck.size === 0; round++) {
      if (round === MAX_ROUNDS) throw stillMaking()
      left = await this.#survey.look()
    }
    this.#report(beginning, findings.reports)
    await this.#made.note(left)
    if (left.problem) throw left.problem
    return left
  }

  /** Returns whether there was nothing. */
  #setAsideMade(beginning: Beginning, findings: SurveyFindings): boolean {
    return setAsideMade(this.#options.roots, beginning, findings, (done) => {
      if (done.problem !== undefined) this.#stuck.set(done.path, done.problem)
      this.#notify(done)
      this.#countRepeat(done.path)
    })
  }

  #report({ reported, readOnly }: Beginning, reports: readonly PlaceReport[]): void {
    const folders = { roots: this.#options.roots, readOnly }
    const fresh = reports.filter((report) => !reported.has(keyOf(report)) && !isOnlyRead(report.path, folders))
    for (const report of fresh) reported.add(keyOf(report))
    for (const text of describeReports(fresh)) for (const command of this.#running) command.onReport?.(text)
  }

  #countRepeat(path: string): void {
    const count = (this.#repeats.get(path) ?? 0) + 1
    this.#repeats.set(path, count)
    if (count > MAX_REPEATS) for (const command of this.#running) command.stop?.()
  }
}

/**
 * Sets aside what was created by commands whose hub no longer exists; calls `onSetAside` for each. Throws if something
 * could not be set aside, as programs would trust it; the next call tries again.
 */
export async function recoverPlaces(ledgerFolder: string, onSetAside: (done: SetAside) => void): Promise<void> {
  await forEachUnfinished(ledgerFolder, async ({ before, readOnly, startedMs, ...options }) => {
    const survey = new Survey(options)
    const objects = startedMs === undefined ? undefined : { changedSinceMs: startedMs, isLast: true }
    for (let round = 0; ; round++) {
      const findings = await survey.look({ objects })
      const isDone = setAsideMade(options.roots, { before, readOnly }, findings, (done) => {
        onSetAside(done)
        if (done.problem !== undefined) throw cannotSetAside(done.path, done.problem)
      })
      if (isDone && findings.problem) throw findings.problem
      if (isDone) return
      if (round === MAX_ROUNDS) throw stillMaking()
    }
  })
}

/** Sets aside what commands have made; calls `onSetAside` for each. Returns whether there was nothing. */
function setAsideMade(
  roots: readonly string[],
  { before, readOnly }: Pick<UnfinishedCommands, 'before' | 'readOnly'>,
  findings: SurveyFindings,
  onSetAside: (done: SetAside) => void,
): boolean {
  const made = madeSince(before, findings, { roots, readOnly })
  for (const { path, bytes, reason } of made) {
    const done = setAside(roots, path, { link: before.get(bytes ?? path)?.link, bytes })
    if (done) onSetAside({ ...done, reason })
  }
  return made.length === 0
}

/**
 * Whether a path is in one of the repositories that commands have made, if these are too many to be closed one by one.
 * They stay open: what commands change there is judged each time.
 */
function inLooseFolder({ gitFolders }: SurveyFindings, made: ReadonlySet<string>): (path: string) => boolean {
  const loose = new Set(gitFolders.filter((folder) => made.has(folder)))
  const isLoose = (folder: string) => loose.has(folder)
  return (path) => loose.size > MAX_MADE_CLOSED && innermostGitFolder(path, isLoose) !== undefined
}

/** What a sandbox must close: of those repositories, only what was there `before` and runs something. */
function withoutLoose(found: KeptFindings, before?: ReadonlyMap<string, ProtectedPlace>): KeptFindings {
  const isLoose = inLooseFolder(found, found.made)
  return {
    ...found,
    // What has no valid name cannot be closed: it is compared with what was there.
    places: new Map(
      [...found.places].filter(([path, { bytes }]) => bytes === undefined && (before?.has(path) || !isLoose(path))),
    ),
    gitFolders: found.gitFolders.filter((folder) => !isLoose(folder)),
  }
}

/**
 * Forgets what no longer exists: the owner has removed it, or another hub that saw a command create it. Nothing is mounted
 * there for commands that start from now on, so they could create it again. Returns whether there was any.
 */
function forgetMissing(before: Map<string, ProtectedPlace>, { places }: SurveyFindings): boolean {
  const missing = [...before.keys()].filter((path) => !places.has(path))
  for (const path of missing) before.delete(path)
  return missing.length > 0
}

/** What the owner should know then. */
const UNCHECKED =
  'Until the next command has been checked, look at what it changed before you use git or an editor in the folder.'

function keyOf({ path, about, name, hash = '' }: PlaceReport): string {
  return `${about} ${path} ${name} ${hash}`
}

function stillMaking(): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', 'Commands make protected files faster than they can be renamed.', {
    hint: 'End the commands that run in the background, then look for files named *.set-aside-* and remove them.',
  })
}

function cannotSetAside(path: string, problem: string): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `A command made ${path}, which is protected, and it could not be renamed: ${problem}.`,
    { hint: 'Look at it, then remove it; until then, no command runs and no hub starts.' },
  )
}
