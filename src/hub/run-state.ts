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

/** The owner of a run, and the sandbox that the run uses. */
export interface RunOwner {
  readonly principal: string
  /** The sandbox of a principal with its own folders. Default: that of the hub. */
  readonly sandbox?: RunSandbox
}

/** Options that all runs of a hub share. */
export interface RunsOptions {
  /** Folder of the records, `false` for none. */
  readonly folder: string | false
  readonly durability: Durability
  readonly clock: Clock
  readonly sandbox: RunSandbox
  /** The store for the heads of the records. Default: none. */
  readonly heads?: HeadStore
  /** Called for every line that is appended to a record. */
  readonly onAppend?: (line: RecordedLine) => void
}

const RESPONSE_BYTES = 8_000_000
const CACHE_LIMITS = { maxEntries: 1_000, maxBytes: 16_000_000, maxValueBytes: 1_000_000 }

/** An open run with its records, cache and guards, which are opened on first use. */
export class OpenRun implements RunState {
  readonly id: string
  /** Name of the principal that owns the run; `undefined` for the owner of the hub. */
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
  /** The id of the first call that tainted the run in this process. */
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

  /** Taints the run permanently: a mark in its folder keeps the taint for later processes. */
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

  /**
   * Marks the owner of the run. If that fails, releases the run and throws, because a run without its mark must not be
   * used.
   */
  #setOwner(principal: string): void {
    try {
      this.#marks?.setOwner(principal)
    } catch (error) {
      // The run has had no call, and the error of the mark already reports the problem with the disk.
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

  /** Ends the commands first, so that their ends are recorded too. */
  async close(): Promise<void> {
    await this.#commands?.endRun(this.id)
    await this.#processes?.close()
    this.#files?.close()
    this.#artifacts?.close()
    await this.records?.close()
  }
}

/** A run for questions such as `explain`: nothing is written and its workspace is empty. An existing taint counts. */
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

/** Throws NOT_FOUND if the run belongs to another principal, as for a run that does not exist. */
export function assertOwner(id: string, known: string | undefined, principal: string): void {
  if (known === principal) return
  throw new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(id)} of ${principal}.`, {
    hint: 'Leave run out, or use a name that nobody else has used.',
  })
}

/** Returns the owner of a run on disk. An invalid run id is refused later, when its records are opened. */
function ownerOnDisk(folder: string, id: string): RunMarkedBy | undefined {
  return isRunId(id) ? runOwner(folder, id) : { principal: undefined }
}

/** Warns the owner once that records cannot be written. Each call with side effects reports it too. */
function warn({ message }: ToolError): void {
  process.emitWarning(message, { type: 'ToolHubWarning', code: 'RECORDS_UNAVAILABLE' })
}

const TAINT_MARK = 'tainted'
const OWNER_MARK = 'principal'
/** Errors that are ignored here: opening the run reports them if they matter. */
const NOT_THERE = new Set(['ENOENT', 'ENOTDIR'])

/** The owner of a run on disk: a principal, or the owner of the hub if `principal` is `undefined`. */
interface RunMarkedBy {
  readonly principal: string | undefined
}

/**
 * Returns the owner of a run, or `undefined` if the run has not started: it will belong to the first principal that
 * uses it.
 */
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

/** Returns whether the folder of a run has the mark of a tainted run. */
export function isMarkedTainted(folder: string): boolean {
  return fs.existsSync(join(folder, TAINT_MARK))
}

/** The marks in the folder of a run for later processes: its owner and its taint. */
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

  /** Resolves when the marks are durable. Returns `undefined` if they already are. */
  synced(): Promise<void> | undefined {
    if (this.#unsynced.size === 0) return this.#syncing
    this.#syncing ??= this.#sync().finally(() => {
      this.#syncing = undefined
    })
    return this.#syncing
  }

  #write(name: string, content: string): void {
    // Also replaces an empty mark, which a loss of power or a full disk may have left.
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

/** Reads the owner from the first recorded call, for a process that ended before it could mark its run. */
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
