import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rm, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRunId } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import {
  assertOurFolder,
  assertOurs,
  currentProcess,
  isAlive,
  openRegular,
  prepareMissingDataFolder,
  syncFolder,
} from '@tool-hub/sandbox/system'
import { z } from 'zod'

/** A command that continues after its call has ended. */
export interface BackgroundProcess {
  /** Its session id. */
  readonly id: string
  readonly run: string
  readonly callId: string
  /** As one line, for people; without secrets. */
  readonly command: string
  readonly startedAt: string
}

const FILE = /^[0-9a-f]{24}\.json$/
/** Enough to recognize it; the whole command is in the events of the run. */
const MAX_COMMAND_LENGTH = 2_000
const MAX_BYTES = 32_768

const schema = z.strictObject({
  version: z.literal(1),
  hub: z.strictObject({
    pid: z.int().positive(),
    started: z.string().max(32).optional(),
    space: z.string().max(300),
  }),
  process: z.strictObject({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
    run: z.string().refine(isRunId),
    callId: z.string().max(200),
    command: z.string().max(MAX_COMMAND_LENGTH),
    startedAt: z.iso.datetime(),
  }),
})

/**
 * The background commands of all hubs that share a folder, each in a small file that also names its hub. Commands end
 * with their hub; if it was killed, a later hub finds out which commands were lost.
 */
export class BackgroundProcesses {
  readonly #folder: string
  readonly #paths = new Map<string, string>()
  readonly #lost: BackgroundProcess[] = []

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Remembers a process of this hub; on disk when it returns. */
  async add({ id, run, callId, command, startedAt }: BackgroundProcess): Promise<void> {
    const path = join(this.#folder, `${randomBytes(12).toString('hex')}.json`)
    this.#paths.set(id, path)
    prepareMissingDataFolder(dirname(this.#folder))
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    assertOurFolder(this.#folder)
    const process = { id, run, callId, command: command.slice(0, MAX_COMMAND_LENGTH), startedAt }
    await writeDurable(path, JSON.stringify({ version: 1, hub: currentProcess(), process }))
    await syncFolder(this.#folder)
    // It has ended meanwhile.
    if (this.#paths.get(id) !== path) await rm(path, { force: true })
  }

  /** Removes a process of this hub that has ended. */
  async remove(id: string): Promise<void> {
    const path = this.#paths.get(id)
    if (path === undefined) return
    this.#paths.delete(id)
    await rm(path, { force: true })
  }

  /** The processes whose hub has ended, oldest first; each is returned to one hub, once. */
  async takeLost(): Promise<readonly BackgroundProcess[]> {
    const paths = (await namesIn(this.#folder))
      .filter((name) => FILE.test(name))
      .map((name) => join(this.#folder, name))
    const taken = await Promise.all(paths.map(takeIfLost))
    const lost = taken
      .filter((process) => process !== undefined)
      .sort((a, b) => Date.parse(a.startedAt) - Date.parse(b.startedAt))
    this.#lost.push(...lost)
    return lost
  }

  /** All that this hub took so far. */
  lost(): readonly BackgroundProcess[] {
    return this.#lost
  }
}

async function writeDurable(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

async function takeIfLost(path: string): Promise<BackgroundProcess | undefined> {
  const parsed = schema.safeParse(await readJson(path))
  if (!parsed.success || isAlive(parsed.data.hub)) return undefined
  try {
    // The process that removes the file reports it; where nobody can remove it, every hub would report it again.
    await unlink(path)
    return parsed.data.process
  } catch {
    return undefined
  }
}

/** `undefined` for everything that is not a file of ours: a link, a pipe, a file of another user, too long, incomplete, missing. */
async function readJson(path: string): Promise<unknown> {
  try {
    const file = await openRegular(path)
    try {
      const stats = await file.stat()
      assertOurs(stats, path)
      return stats.size > MAX_BYTES ? undefined : JSON.parse(await file.readFile('utf8'))
    } finally {
      await file.close()
    }
  } catch {
    // No file in the folder may keep a hub from starting.
    return undefined
  }
}
