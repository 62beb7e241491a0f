import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Artifact, type Clock, isRunId, ToolError } from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import {
  type RunHold,
  type RunLog,
  RunMemory,
  type RunSandbox,
  type RunState,
  type SandboxHandles,
  TaintSources,
} from '@tool-hub/runtime/hub'
import type { EventBody } from '@tool-hub/runtime/records/log'
import type { FileLabel } from '@tool-hub/runtime/store'
import type { ProcessGuard } from '@tool-hub/sandbox/exec'
import type { FilesGuard } from '@tool-hub/sandbox/files'

interface GuestRunOptions {
  readonly clock: Clock
  readonly sandbox: RunSandbox
  /** Folder of the records of this process, where the workspace of the run is if both processes share a disk. */
  readonly runsFolder: string | false
  readonly redact: (text: string) => string
  /** Stores an artifact for the process of the run. */
  readonly putParts: (content: Uint8Array) => Promise<Pick<SentArtifact, 'upload' | 'parts'>>
  /** Rejects if nobody waits for the call any more. */
  readonly confirm: () => Promise<void>
  /** What had tainted the run before. */
  readonly taintedBy: readonly string[]
}

/** The origin of what had tainted the run before: no call has this id. */
const BEFORE = 'before'

/** The run of a call that is executed for another process. It records nothing: what it collects is part of the outcome. */
export class GuestRun extends RunMemory implements RunState {
  readonly id: string
  readonly hold: RunHold
  readonly records: GuestLog
  readonly sandbox: SandboxHandles
  readonly keptTaint = undefined
  /** What the call has read from outside. */
  readonly newSources: TaintSources
  /** What the call has labelled on this machine. */
  readonly labels: FileLabel[] = []
  readonly #sources: TaintSources
  #files: FilesGuard | undefined
  #own: ProcessGuard | undefined
  #commands: ProcessGuard | undefined

  constructor(id: string, { clock, sandbox, runsFolder, redact, putParts, taintedBy, confirm }: GuestRunOptions) {
    super(clock)
    this.id = id
    this.hold = { confirm, guest: { onLabel: (labels) => this.labels.push(...labels) } }
    this.records = new GuestLog(putParts)
    this.newSources = new TaintSources(redact)
    this.#sources = new TaintSources(redact)
    for (const source of taintedBy) this.taint(BEFORE, source)
    const inWorkspace = <T>(open: (folder: string | undefined) => T): T => {
      const folder = sandbox.makeWorkspace(id, workspaceInRecords(runsFolder, id))
      try {
        return open(folder)
      } catch (error) {
        throw folder === undefined && ToolError.is(error) && error.code === 'SANDBOX_UNAVAILABLE'
          ? notShared(id)
          : error
      }
    }
    this.sandbox = {
      files: () => {
        this.#files ??= sandbox.sharedFiles() ?? inWorkspace((folder) => sandbox.openFiles(folder))
        return this.#files
      },
      artifacts: () => undefined,
      network: () => sandbox.network(),
      process: () => {
        this.#commands = sandbox.sharedProcesses() ?? this.#own
        if (!this.#commands) this.#commands = this.#own = inWorkspace((folder) => sandbox.openProcesses(folder))
        return this.#commands
      },
      sandboxLevel: () => sandbox.sandboxLevel(),
    }
  }

  get taintedBy(): readonly string[] {
    return this.#sources.list
  }

  get hasOutsideArtifacts(): boolean {
    return this.tainted
  }

  taint(callId: string | undefined, source: string): void {
    this.#sources.add(source)
    if (callId !== BEFORE) this.newSources.add(source)
    if (this.markTainted(callId)) this.emitTaint()
  }

  /** Ends the commands of the call, those in the background too: no later call could find them. */
  async close(): Promise<void> {
    await this.#commands?.endRun(this.id)
    await this.#own?.close()
    this.#files?.close()
  }
}

function notShared(run: string): ToolError {
  return new ToolError('SANDBOX_UNAVAILABLE', `The worker has no access to the workspace of run ${run}.`, {
    fix: {
      key: 'sandbox.workspaces',
      hint: 'Set sandbox.workspaces, or sandbox.root, to the same folder on all machines, on a disk that they share.',
    },
  })
}

function workspaceInRecords(runsFolder: string | false, id: string): string | undefined {
  if (runsFolder === false || !isRunId(id)) return undefined
  const folder = join(runsFolder, id, 'workspace')
  return existsSync(folder) ? folder : undefined
}

const MAX_LINES = 1_000

/** An artifact in parts, until the process of the run has it. */
export interface SentArtifact extends Pick<Artifact, 'sha256' | 'name' | 'mediaType'> {
  readonly upload: string
  readonly parts: number
}

/** Collects what a call adds to the record of its run. */
class GuestLog implements RunLog {
  readonly isNew = false
  readonly problem = undefined
  readonly lines: EventBody[] = []
  readonly artifacts: SentArtifact[] = []
  readonly #put: GuestRunOptions['putParts']

  constructor(put: GuestRunOptions['putParts']) {
    this.#put = put
  }

  append(event: EventBody): void {
    // The process of the run has recorded the start, and records the end.
    if (event.type === 'call-started' || this.lines.length >= MAX_LINES) return
    this.lines.push(event)
  }

  async putArtifact(content: string | Uint8Array, options: { name?: string; mediaType?: string } = {}) {
    const isText = typeof content === 'string'
    const bytes = isText ? Buffer.from(content) : content
    const hash = sha256(bytes)
    const {
      name = `${hash.slice(0, 12)}.${isText ? 'txt' : 'bin'}`,
      mediaType = isText ? 'text/plain; charset=utf-8' : 'application/octet-stream',
    } = options
    this.artifacts.push({ sha256: hash, name, mediaType, ...(await this.#put(bytes)) })
    return { ref: `artifact:${hash}`, name, bytes: bytes.byteLength, sha256: hash, mediaType }
  }

  async synced(): Promise<void> {}

  async ended(): Promise<void> {}

  written(): undefined {}
}
