import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { type Clock, messageOf, resourceError, ToolError } from '../../core/index.ts'
import { errnoOf, isWithin } from '../../lib/index.ts'
import { assertOurFolder, currentProcess, isRunningHere, prepareDataFolder, readRegular } from '../../system/index.ts'
import { isHarmlessGitFile } from './git-folder.ts'
import { type SetAside, setAside } from './open-below.ts'
import { type ProtectedPlace, Survey, type SurveyFindings, type SurveyOptions } from './survey.ts'

/** The settings of a keeper of protected places. */
export interface PlaceKeeperOptions extends SurveyOptions {
  readonly clock: Clock
  /** The roots that no command can change: what appears there is the owner's. Default: none. */
  readonly readOnly?: () => Promise<readonly string[]>
  /** Where the state before commands ran is recorded. Default: nothing is recorded. */
  readonly ledgerFolder?: string
  /** Multiplies the pause between two checks, for programs that run all the time. Default: 1. */
  readonly pace?: number
}

/** What the keeper uses of a running command. */
export interface KeptCommand {
  /** Called when something that a command created was set aside. */
  readonly onSetAside?: (done: SetAside) => void
  /** Ends the command: it, or one that runs at the same time, creates the same place again and again. */
  readonly stop?: () => void
}

type Places = ReadonlyMap<string, ProtectedPlace>

/** What existed before the first command began, and the roots that no command can change. */
interface Beginning {
  readonly before: Map<string, ProtectedPlace>
  readonly readOnly: readonly string[]
}

const INTERVAL_MS = 100
/** Checks take at most a tenth of the time. */
const REST = 10
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
  readonly #ledger: Ledger | undefined
  readonly #pace: number
  readonly #running = new Set<KeptCommand>()
  readonly #repeats = new Map<string, number>()
  /** What could not be set aside: no command starts while it exists. */
  readonly #stuck = new Map<string, string>()
  #beginning: Promise<Beginning> | undefined
  #cancelLook: (() => void) | undefined

  constructor(options: PlaceKeeperOptions) {
    this.#options = options
    this.#pace = options.pace ?? 1
    this.#survey = new Survey(options)
    this.#ledger = options.ledgerFolder === undefined ? undefined : new Ledger(options.ledgerFolder, options)
  }

  /** The current state, for descriptions. */
  look(): Promise<SurveyFindings> {
    return this.#survey.look()
  }

  /** Call before a command starts; returns what its sandbox must close. */
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

  /** Call when a command has ended or did not start. */
  async leave(command: KeptCommand): Promise<void> {
    let isSwept = false
    try {
      // If the start failed, no command has run that could have created anything.
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
    // What others set aside before this is read is missing at the next check.
    const others = (await this.#ledger?.others()) ?? []
    const isOwners = (place: ProtectedPlace) => !others.some((other) => this.#isMadeFor(other, place))
    const before = new Map([...places].filter(([path, place]) => !this.#stuck.has(path) && isOwners(place)))
    const readOnly = (await this.#options.readOnly?.()) ?? []
    this.#ledger?.write(before, readOnly)
    return { before, readOnly }
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
    await this.#sweep().catch(() => undefined)
    this.#cancelLook = undefined
    const restMs = Math.max(INTERVAL_MS, REST * (performance.now() - beganAt)) * this.#pace
    if (this.#running.size > 0) this.#lookLater(restMs)
  }

  /** Sets aside what has appeared since commands run; returns the state after that. */
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
 * Sets aside what was created by commands whose hub no longer exists; calls `onSetAside` for each. Throws if something
 * could not be set aside, as programs would trust it; the next call tries again.
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

/** What did not exist before, or was another link, and could make a program run it. */
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

/** Existing files and folders are mounted read-only; only a link can have been replaced. */
function isOwned(before: Places, place: ProtectedPlace): boolean {
  const owned = before.get(place.path)
  return owned !== undefined && (owned.link === undefined || owned.link === place.link)
}

/** A root can be inside another one: the inner one counts. */
function isOnlyRead(path: string, { roots, readOnly }: Folders): boolean {
  if (readOnly.length === 0) return false
  const [inner] = roots.filter((root) => isWithin(root, path)).sort((a, b) => b.length - a.length)
  return readOnly.includes(inner!)
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

function cannotSetAside(path: string, problem: string): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `A command made ${path}, which is protected, and it could not be renamed: ${problem}.`,
    { hint: 'Look at it, then remove it; until then, no command runs and no hub starts.' },
  )
}

const placeSchema = z.strictObject({
  path: z.string(),
  link: z.string().optional(),
  isGit: z.boolean(),
  isOnWay: z.boolean().optional(),
  behind: z.string().optional(),
})
const ledgerSchema = z.strictObject({
  version: z.literal(1),
  hub: z.strictObject({ pid: z.int().positive(), started: z.string().optional(), space: z.string() }),
  roots: z.array(z.string()),
  exact: z.array(z.string()),
  hidden: z.array(z.string()),
  readOnly: z.array(z.string()).default([]),
  before: z.array(placeSchema),
})

/** The state of protected places before commands whose end was not recorded. */
export interface UnfinishedCommands extends SurveyOptions {
  /** Roots that no command could change. */
  readonly readOnly: readonly string[]
  readonly before: ReadonlyMap<string, ProtectedPlace>
}

const NAME = /^[0-9a-f]{24}\.json$/
const MAX_BYTES = 16 * 1024 ** 2

/**
 * Records on disk, while commands run, what was at protected places before: after `kill -9` of the hub, the next one
 * still knows what commands have created there.
 */
export class Ledger {
  readonly #folder: string
  readonly #path: string
  readonly #options: SurveyOptions

  constructor(folder: string, options: SurveyOptions) {
    this.#folder = folder
    this.#path = join(folder, `${randomBytes(12).toString('hex')}.json`)
    this.#options = options
  }

  /** Synchronous and not flushed: the system keeps it when the process is killed, and a command waits for it. */
  write(before: ReadonlyMap<string, ProtectedPlace>, readOnly: readonly string[] = []): void {
    prepareDataFolder(dirname(this.#folder))
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    assertOurFolder(this.#folder)
    const { roots, exact, hidden } = this.#options
    const content = { version: 1, hub: currentProcess(), roots, exact, hidden, readOnly, before: [...before.values()] }
    const draft = `${this.#path}.draft`
    try {
      writeFileSync(draft, JSON.stringify(content), { mode: 0o600 })
      renameSync(draft, this.#path)
    } catch (error) {
      rmSync(draft, { force: true })
      throw resourceError(error, 'What commands may not change cannot be noted') ?? error
    }
  }

  /** Whether it still exists: a hub on another machine or in another container cannot know that this one runs. */
  isKept(): boolean {
    return existsSync(this.#path)
  }

  clear(): void {
    rmSync(this.#path, { force: true })
  }

  /** The records of others whose commands run now: other hubs, and other parts of this hub that start programs. */
  async others(): Promise<UnfinishedCommands[]> {
    const found: UnfinishedCommands[] = []
    for (const name of await namesIn(this.#folder)) {
      const path = join(this.#folder, name)
      const ledger = path === this.#path ? undefined : await read(path)
      if (ledger && isRunningHere(ledger.hub)) found.push(unfinishedOf(ledger))
    }
    return found
  }
}

/**
 * Passes to `handle` the records of hubs that no longer exist, or for which that is unknown, such as one in a container
 * that was killed; each file is removed after `handle` has resolved. A hub that still runs writes its file again.
 */
export async function forEachUnfinished(
  folder: string,
  handle: (unfinished: UnfinishedCommands) => Promise<void>,
): Promise<void> {
  for (const name of await namesIn(folder)) {
    const path = join(folder, name)
    const ledger = await read(path)
    if (!ledger || isRunningHere(ledger.hub)) continue
    await handle(unfinishedOf(ledger))
    rmSync(path, { force: true })
  }
}

function unfinishedOf(ledger: z.output<typeof ledgerSchema>): UnfinishedCommands {
  return { ...ledger, before: new Map(ledger.before.map((place) => [place.path, place])) }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const names = await readdir(folder)
    assertOurFolder(folder)
    return names.filter((name) => NAME.test(name))
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

async function read(path: string): Promise<z.output<typeof ledgerSchema> | undefined> {
  try {
    return ledgerSchema.parse(JSON.parse(await readRegular(path, MAX_BYTES)))
  } catch (error) {
    // Another hub that starts at the same time was faster.
    if (errnoOf(error) === 'ENOENT') return undefined
    // Only a loss of power can have damaged it: no command sees this folder.
    process.emitWarning(`${path} cannot be read (${messageOf(error)}), so it is removed.`, 'ToolHubWarning')
    rmSync(path, { force: true })
    return undefined
  }
}
