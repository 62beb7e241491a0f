import * as fs from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  type Clock,
  type Durability,
  type HeadStore,
  isRunId,
  type RunCache,
  type SeenFiles,
  ToolError,
} from '../core/index.ts'
import { errnoOf } from '../lib/index.ts'
import { diskError, parseEvent, type RecordedLine, RunRecords, readLinesSync } from '../records/log/index.ts'
import type { ProcessGuard } from '../sandbox/exec/index.ts'
import type { FilesGuard } from '../sandbox/files/index.ts'
import { createResponseCache, type ResponseCache } from '../sandbox/network/index.ts'
import { createRunCache, createSeenFiles } from '../store/index.ts'
import { openOurs, syncFolder } from '../system/index.ts'
import { StartQueue } from './pipeline/record.ts'
import type { SandboxHandles } from './pipeline/targets.ts'
import type { RunSandbox } from './run-sandbox.ts'
import type { RunState } from './runtime.ts'
import { makeWorkspace, RESULTS_ALIAS } from './workspace.ts'

/** Whose a run is, and what it may touch. */
export interface RunOwner {
  readonly principal: string
  /** Its own folders, where it has some. */
  readonly sandbox?: RunSandbox
}

/** What the runs of one hub have in common. */
export interface RunsOptions {
  /** Folder of the records, `false` for none. */
  readonly folder: string | false
  readonly durability: Durability
  readonly clock: Clock
  readonly sandbox: RunSandbox
  /** Where the heads of their records are kept, if anywhere. */
  readonly heads?: HeadStore
  /** Hears of every line of their records. */
  readonly onAppend?: (line: RecordedLine) => void
}

const RESPONSE_BYTES = 8_000_000
const CACHE_LIMITS = { maxEntries: 1_000, maxBytes: 16_000_000, maxValueBytes: 1_000_000 }

/** A run that is open: its records, its cache and its guards, which are opened when they are first used. */
export class OpenRun implements RunState {
  readonly id: string
  /** Whose it is; the hub's own owner's without. */
  readonly principal: string | undefined
  readonly records: RunRecords | undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly sandbox: SandboxHandles
  readonly seen: SeenFiles = createSeenFiles()
  readonly responses: ResponseCache
  inFlight = 0
  isActive = true
  isReleased = false
  readonly #marks: RunMarks | undefined
  #isTainted: boolean
  /** The first that did, in this process. */
  #taintedBy: string | undefined
  #isTaintedByMany = false
  readonly #taintListeners = new Set<() => void>()
  #files: FilesGuard | undefined
  #artifacts: FilesGuard | undefined
  #processes: ProcessGuard | undefined
  #commands: ProcessGuard | undefined

  constructor(id: string, options: RunsOptions, owner: RunOwner | undefined) {
    const { folder, durability, clock, onAppend, heads } = options
    const sandbox = owner?.sandbox ?? options.sandbox
    this.id = id
    const known = folder === false ? undefined : ownerOnDisk(folder, id)
    if (owner && known) assertOwner(id, known.principal, owner.principal)
    this.principal = owner?.principal ?? known?.principal
    this.records =
      folder === false
        ? undefined
        : RunRecords.open(folder, id, { durability, clock, onAppend, heads, onProblem: warn })
    this.#marks = this.records && new RunMarks(this.records.folder)
    if (owner && !known) this.#setOwner(owner.principal)
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.starts = new StartQueue(clock)
    this.responses = createResponseCache({ maxBytes: RESPONSE_BYTES, clock })
    this.sandbox = {
      files: () => this.#openFiles(sandbox),
      artifacts: () => this.#openArtifacts(sandbox),
      network: () => sandbox.network(),
      process: () => {
        this.#commands = sandbox.sharedProcesses() ?? this.#ownProcesses(sandbox)
        return this.#commands
      },
      sandboxLevel: () => sandbox.sandboxLevel(),
    }
    this.#isTainted = this.#marks?.isTainted ?? false
  }

  get tainted(): boolean {
    return this.#isTainted
  }

  /** Once tainted, always: a mark in the run's folder tells the next process. */
  taint(callId: string): void {
    this.#taintedBy ??= callId
    if (callId !== this.#taintedBy) this.#isTaintedByMany = true
    const isNew = !this.#isTainted
    this.#isTainted = true
    this.#marks?.setTainted()
    if (isNew) for (const listener of [...this.#taintListeners]) listener()
  }

  onTaint(listener: () => void): () => void {
    this.#taintListeners.add(listener)
    return () => this.#taintListeners.delete(listener)
  }

  marked(): Promise<void> | undefined {
    return this.#marks?.synced()
  }

  taintedBeside(callId: string): boolean {
    return this.#isTainted && (this.#isTaintedByMany || this.#taintedBy !== callId)
  }

  /** A run that cannot say whose it is must not be used: it is released, and nobody's as before. */
  #setOwner(principal: string): void {
    try {
      this.#marks?.setOwner(principal)
    } catch (error) {
      // It has had no call; what is wrong with the disk is told by the mark.
      void this.records?.close().catch(() => {})
      throw diskError(`Run ${this.id} cannot be marked as that of ${principal}`, this.records!.folder, error)
    }
  }

  #openArtifacts(sandbox: RunSandbox): FilesGuard | undefined {
    if (this.records) this.#artifacts ??= sandbox.openArtifacts(join(this.records.folder, 'artifacts'))
    return this.#artifacts
  }

  #openFiles(sandbox: RunSandbox): FilesGuard {
    const { records } = this
    this.#files ??= sandbox.sharedFiles(records?.deliverables)
    if (this.#files) return this.#files
    const workspace = this.#workspace(sandbox)
    this.#files = sandbox.openFiles(workspace, records && { path: records.deliverables, alias: RESULTS_ALIAS })
    return this.#files
  }

  #ownProcesses(sandbox: RunSandbox): ProcessGuard {
    this.#processes ??= sandbox.openProcesses(this.#workspace(sandbox))
    return this.#processes
  }

  #workspace(sandbox: RunSandbox): string | undefined {
    const folder = sandbox.workspaceOf(this.id) ?? this.records?.workspace
    if (folder !== undefined) makeWorkspace(folder)
    return folder
  }

  release(): void {
    this.isReleased = true
    this.records?.release()
  }

  /** Commands end first: how is on record, too. */
  async close(): Promise<void> {
    await this.#commands?.endRun(this.id)
    await this.#processes?.close()
    this.#files?.close()
    this.#artifacts?.close()
    await this.records?.close()
  }
}

/** A run that is only talked about: nothing is written, and its workspace is empty. What it has read before counts. */
export class Rehearsal implements RunState {
  readonly id: string
  readonly records = undefined
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly sandbox: SandboxHandles
  readonly seen: SeenFiles = createSeenFiles()
  readonly responses: ResponseCache
  readonly tainted: boolean
  inFlight = 0

  constructor(id: string, { folder, clock, sandbox }: RunsOptions) {
    this.id = id
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.starts = new StartQueue(clock)
    this.responses = createResponseCache({ maxBytes: RESPONSE_BYTES, clock })
    const workspace = sandbox.workspaceOf(id) ?? (folder === false ? undefined : join(folder, id, 'workspace'))
    const deliverables = folder === false ? undefined : join(folder, id, 'deliverables')
    this.tainted = folder !== false && isRunId(id) && isMarkedTainted(join(folder, id))
    this.sandbox = {
      files: () => sandbox.standInShared(deliverables) ?? sandbox.standIn(workspace, deliverables),
      artifacts: () => undefined,
      network: () => sandbox.network(),
      process: () => sandbox.sharedProcesses() ?? sandbox.standInProcesses(workspace),
      sandboxLevel: () => sandbox.sandboxLevel(),
    }
  }

  taint(): void {}

  onTaint(): () => void {
    return () => {}
  }

  marked(): undefined {}

  taintedBeside(): boolean {
    return this.tainted
  }
}

/** Throws NOT_FOUND for the run of somebody else, as for a run that does not exist. */
export function assertOwner(id: string, known: string | undefined, principal: string): void {
  if (known === principal) return
  throw new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(id)} of ${principal}.`, {
    hint: 'Leave run out, or use a name that nobody else has used.',
  })
}

/** What is not the id of a run is refused when its records are opened. */
function ownerOnDisk(folder: string, id: string): RunMarkedBy | undefined {
  return isRunId(id) ? runOwner(folder, id) : { principal: undefined }
}

/** The disk refuses the record: calls with effects say so one by one, the owner is warned once. */
function warn({ message }: ToolError): void {
  process.emitWarning(message, { type: 'ToolHubWarning', code: 'RECORDS_UNAVAILABLE' })
}

const TAINT_MARK = 'tainted'
const OWNER_MARK = 'principal'
/** What opening the run tells better, if it is wrong at all. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR'])

/** Whose a run on disk is: that of a principal, or of the hub's owner if there is none. */
interface RunMarkedBy {
  readonly principal: string | undefined
}

/** Returns `undefined` if the run has not begun: it belongs to the first who uses it. */
export function runOwner(folder: string, id: string): RunMarkedBy | undefined {
  const run = join(folder, id)
  try {
    const principal = fs.readFileSync(join(run, OWNER_MARK), 'utf8')
    if (principal !== '') return { principal }
  } catch (error) {
    if (!NOT_THERE.has(errnoOf(error))) throw error
  }
  return ownerInRecord(run)
}

/** Whether a run has read content from outside, as far as its folder tells. */
export function isMarkedTainted(folder: string): boolean {
  return fs.existsSync(join(folder, TAINT_MARK))
}

/** What an open run leaves in its folder for the next process: whose it is, and that it is tainted. */
export class RunMarks {
  readonly #folder: string
  readonly #unsynced = new Set<string>()
  #isTainted: boolean
  #syncing: Promise<void> | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#isTainted = isMarkedTainted(folder)
  }

  get isTainted(): boolean {
    return this.#isTainted
  }

  setOwner(principal: string): void {
    this.#write(OWNER_MARK, principal)
  }

  setTainted(): void {
    if (this.#isTainted) return
    this.#write(TAINT_MARK, '')
    this.#isTainted = true
  }

  /** Resolves when the marks survive a loss of power; undefined when they do already. */
  synced(): Promise<void> | undefined {
    if (this.#unsynced.size === 0) return this.#syncing
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  #write(name: string, content: string): void {
    // Over an empty one, too: a loss of power, or a full disk, may have left it.
    fs.writeFileSync(join(this.#folder, name), content, { mode: 0o600 })
    this.#unsynced.add(name)
  }

  async #sync(): Promise<void> {
    while (this.#unsynced.size > 0) {
      const names = [...this.#unsynced]
      try {
        await Promise.all(names.map((name) => syncFile(join(this.#folder, name))))
        await Promise.all([syncFolder(this.#folder), syncFolder(dirname(this.#folder))])
      } catch (error) {
        throw diskError('The marks of the run cannot be made durable', this.#folder, error)
      }
      for (const name of names) this.#unsynced.delete(name)
    }
  }
}

/** A process that ended before it could mark its run has left at most the lines: the first call says whose it is. */
function ownerInRecord(run: string): RunMarkedBy | undefined {
  let descriptor: number
  try {
    descriptor = openOurs(join(run, 'events.jsonl'), fs.constants.O_RDONLY)
  } catch (error) {
    if (NOT_THERE.has(errnoOf(error))) return undefined
    throw error
  }
  try {
    for (const line of readLinesSync(descriptor)) {
      const event = parseEvent(line)
      if (event?.type === 'call-started' || event?.type === 'call-ended') return { principal: event.principal }
    }
    return undefined
  } finally {
    fs.closeSync(descriptor)
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync().finally(() => file.close())
}
