import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { messageOf, resourceError, ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { z } from 'zod'
import { assertOurFolder, currentProcess, isRunningHere, prepareDataFolder, readRegular } from '../../system/index.ts'
import type { ProtectedPlace } from '../checks/index.ts'
import type { SurveyOptions } from '../survey/index.ts'

const placeSchema = z.strictObject({
  path: z.string(),
  link: z.string().optional(),
  isGit: z.boolean(),
  isOnWay: z.boolean().optional(),
  behind: z.string().optional(),
  state: z.string().optional(),
  refusal: z.string().optional(),
  bytes: z.string().optional(),
})
const ledgerSchema = z.strictObject({
  version: z.literal(1),
  hub: z.strictObject({ pid: z.int().positive(), started: z.string().optional(), space: z.string() }),
  roots: z.array(z.string()),
  exact: z.array(z.string()),
  hidden: z.array(z.string()),
  readOnly: z.array(z.string()).default([]),
  startedMs: z.number().optional(),
  before: z.array(placeSchema),
})

/** The state of protected places before commands whose end was not recorded. */
export interface UnfinishedCommands extends SurveyOptions {
  /** Roots that no command could change. */
  readonly readOnly: readonly string[]
  readonly before: ReadonlyMap<string, ProtectedPlace>
  /** When the first of them began. */
  readonly startedMs?: number
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
  write(
    before: ReadonlyMap<string, ProtectedPlace>,
    { readOnly = [], startedMs }: { readonly readOnly?: readonly string[]; readonly startedMs?: number } = {},
  ): void {
    prepareDataFolder(dirname(this.#folder))
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    assertOurFolder(this.#folder)
    const { roots, exact, hidden } = this.#options
    const scope = { roots, exact, hidden, readOnly, startedMs }
    const text = JSON.stringify({ version: 1, hub: currentProcess(), ...scope, before: [...before.values()] })
    if (Buffer.byteLength(text) > MAX_BYTES) throw tooMany(before.size)
    const draft = `${this.#path}.draft`
    try {
      writeFileSync(draft, text, { mode: 0o600 })
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

/** After kill -9, the next hub could not read it, and would take everything for the owner's. */
function tooMany(count: number): ToolError {
  return new ToolError(
    'SANDBOX_UNAVAILABLE',
    `There are ${count.toLocaleString('en-US')} protected places in the sandbox roots, too many to be noted.`,
    { hint: 'Remove repositories that are not needed, or choose a smaller root.' },
  )
}

function unfinishedOf(ledger: z.output<typeof ledgerSchema>): UnfinishedCommands {
  return { ...ledger, before: new Map(ledger.before.map((place) => [place.bytes ?? place.path, place])) }
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
