import { lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { z } from 'zod'
import { readRegular } from '../../system/index.ts'
import { ReadableEndpoints, type SurveyFindings, type SurveyOptions } from '../survey/index.ts'
import { isOnlyRead } from './made-since.ts'

/** What a sandbox must close, and what of it need not be hidden. */
export interface KeptFindings extends SurveyFindings {
  /** Secrets, sockets, pipes and git folders that commands have made themselves. */
  readonly made: ReadonlySet<string>
}

/** Where files are the owner's, and where it is recorded which are not. */
interface MadeOptions extends SurveyOptions {
  readonly readOnly?: () => Promise<readonly string[]>
  readonly readable?: readonly string[]
  readonly ledgerFolder?: string
}

type Found = Pick<SurveyFindings, 'secrets' | 'endpoints' | 'gitFolders'>

const pathsOf = ({ secrets, endpoints, gitFolders }: Found) => [...secrets, ...endpoints, ...gitFolders]

/** By root: the identities of what commands made there. */
const recordSchema = z.record(z.string(), z.array(z.string()))
/** More are not recorded: after a restart of the hub they count as the owner's. */
const MAX_RECORDED = 20_000
const MAX_BYTES = 4 * 1024 ** 2

/**
 * Knows which secrets, sockets, pipes and git folders commands have made. What exists when the first command begins is the owner's;
 * what appears while commands run counts as theirs, except for a socket that a program of this machine has bound and
 * what has a second name. Recorded in the data folder, so that it is still known in later runs.
 */
export class MadeByCommands {
  readonly #options: MadeOptions
  readonly #readable: ReadableEndpoints
  /** Paths, and identities of files. */
  readonly #owned = new Set<string>()
  /** Identities of files. */
  #made = new Set<string>()
  #isSaved = true

  constructor(options: MadeOptions) {
    this.#options = options
    this.#readable = new ReadableEndpoints(options.readable ?? [], options.hidden)
  }

  /** Call before the first command starts: what is found and not recorded is the owner's. */
  async begin(found: Found): Promise<void> {
    await this.#load()
    this.#owned.clear()
    for (const path of pathsOf(found)) {
      const id = identityOf(path)
      if (id === undefined || !this.#made.has(id)) this.#own(path, id)
    }
  }

  /** Adds what commands have made, and the sockets and pipes in folders that they can only read. */
  async mark(found: SurveyFindings, { isBegun = true } = {}): Promise<KeptFindings> {
    const [made, readable] = await Promise.all([
      isBegun ? this.note(found) : this.#recorded(found),
      this.#readable.look(),
    ])
    return { ...found, endpoints: [...found.endpoints, ...readable], made }
  }

  /** Returns those of the files that commands have made. */
  async note(found: Found): Promise<ReadonlySet<string>> {
    const { roots } = this.#options
    const readOnly = (await this.#options.readOnly?.()) ?? []
    const made = new Map<string, string>()
    for (const path of pathsOf(found)) {
      const id = isOnlyRead(path, { roots, readOnly }) ? undefined : identityOf(path)
      if (id !== undefined && (this.#owned.has(path) || this.#owned.has(id))) continue
      if (id !== undefined && (this.#made.has(id) || !isOfMachine(path))) made.set(id, path)
      else this.#own(path, id)
    }
    if (made.size !== this.#made.size || [...made.keys()].some((id) => !this.#made.has(id))) this.#isSaved = false
    this.#made = new Set(made.keys())
    return new Set(made.values())
  }

  /** Records it, if it has changed. What is recorded of other roots stays. */
  async save(): Promise<void> {
    const file = this.#file
    if (this.#isSaved || file === undefined) return
    const [first = '', ...more] = this.#options.roots
    // What is in one of the roots is recorded with the first: they are read together.
    const record = { ...(await this.#read()), [first]: [...this.#made].slice(0, MAX_RECORDED) }
    for (const root of more) delete record[root]
    const draft = `${file}.${process.pid}.draft`
    try {
      writeFileSync(draft, JSON.stringify(record), { mode: 0o600 })
      renameSync(draft, file)
      this.#isSaved = true
    } catch (error) {
      // Then it counts as the owner's in later runs, and is hidden. The folder, which the ledger created, may be gone.
      if (errnoOf(error) !== 'ENOENT')
        process.emitWarning(`What commands made cannot be recorded: ${messageOf(error)}`, 'ToolHubWarning')
    }
  }

  /** Its path stays the owner's if the file is replaced, and the file if it is renamed. */
  #own(path: string, id: string | undefined): void {
    this.#owned.add(path)
    if (id !== undefined) this.#owned.add(id)
  }

  /** While no command runs, nothing else counts as made. */
  async #recorded(found: Found): Promise<ReadonlySet<string>> {
    await this.#load()
    return new Set(pathsOf(found).filter((path) => this.#made.has(identityOf(path) ?? '')))
  }

  async #load(): Promise<void> {
    const recorded = await this.#read()
    for (const root of this.#options.roots) for (const id of recorded[root] ?? []) this.#made.add(id)
  }

  get #file(): string | undefined {
    const { ledgerFolder } = this.#options
    return ledgerFolder === undefined ? undefined : join(dirname(ledgerFolder), 'made-by-commands.json')
  }

  async #read(): Promise<z.output<typeof recordSchema>> {
    if (this.#file === undefined) return {}
    try {
      return recordSchema.parse(JSON.parse(await readRegular(this.#file, MAX_BYTES)))
    } catch (error) {
      // Without it, or if it is damaged, everything counts as the owner's and is hidden.
      if (errnoOf(error) !== 'ENOENT')
        process.emitWarning(`${this.#file} cannot be read: ${messageOf(error)}`, 'ToolHubWarning')
      return {}
    }
  }
}

/** The same file has the same identity until it is removed. Undefined for a file with several names. */
function identityOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { bigint: true })
    if (stats.nlink > 1n && !stats.isDirectory()) return undefined
    return `${stats.dev}:${stats.ino}:${stats.birthtimeNs}`
  } catch {
    // It is gone, or closed: nothing is known about it.
    return undefined
  }
}

/** Whether a program in the hub's own network namespace, where no sandbox is, has bound a socket of that name. */
function isOfMachine(path: string): boolean {
  if (process.platform !== 'linux' || !lstatSync(path, { throwIfNoEntry: false })?.isSocket()) return false
  try {
    const name = basename(path)
    return readFileSync('/proc/net/unix', 'utf8')
      .split('\n')
      .some((line) => line.endsWith(name))
  } catch {
    return true
  }
}
