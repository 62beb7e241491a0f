import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import { createFilesGuard, type FilesGuard } from '../guards/files/files-guard.ts'
import { createNetworkGuard, type NetworkGuard } from '../guards/network/network-guard.ts'
import type { Durability, Limits, Sandbox } from '../options.ts'
import { RunRecords } from '../record/run-records.ts'
import type { RunState } from '../steps/parts.ts'
import { createRunCache } from '../store/run-cache.ts'

/** What the runs of one hub have in common. */
export interface RunsOptions {
  /** Folder of the records, `false` for none. */
  readonly folder: string | false
  readonly durability: Durability
  readonly clock: Clock
  readonly sandbox: Sandbox
  readonly limits: Required<Pick<Limits, 'readBytes' | 'httpBytes' | 'timeoutMs'>>
  readonly userAgent: string
  /** Folders that no tool writes to: records, grants. */
  readonly protect: readonly string[]
  readonly onClosed: (run: string) => void
}

const MOST_OPEN_RUNS = 256
const CACHE_LIMITS = { maxEntries: 1_000, maxBytes: 16_000_000, maxValueBytes: 1_000_000 }

/** The open runs of a hub. An idle one is closed when there are too many; its next call opens it again. */
export class Runs {
  readonly #options: RunsOptions
  readonly #open = new Map<string, OpenRun>()
  #network: NetworkGuard | undefined
  #takesMore = true

  constructor(options: RunsOptions) {
    this.#options = options
  }

  /** The state of a run, opened when it is not: folder, lock, recovery. Throws when it cannot be. */
  open(id: string): RunState {
    if (!this.#takesMore) throw new ToolError('ABORTED', 'The hub is closed and takes no more calls.')
    const present = this.#open.get(id)
    if (present) return present
    if (this.#open.size >= MOST_OPEN_RUNS) this.#closeIdle()
    const run = new OpenRun(id, this.#openRecords(id), this.#options, () => this.#sharedNetwork())
    this.#open.set(id, run)
    return run
  }

  /** A run that leaves no trace, for questions such as `explain`. */
  rehearsal(): RunState {
    return new OpenRun('rehearsal', undefined, this.#options, () => this.#sharedNetwork())
  }

  takeNoMore(): void {
    this.#takesMore = false
  }

  async close(id: string): Promise<void> {
    const run = this.#open.get(id)
    if (!run) return
    this.#open.delete(id)
    this.#options.onClosed(id)
    await run.close()
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)))
    await this.#network?.close()
  }

  #openRecords(id: string): RunRecords | undefined {
    const { folder, durability, clock } = this.#options
    return folder === false ? undefined : RunRecords.open(folder, id, { durability, clock })
  }

  #closeIdle(): void {
    for (const [id, run] of this.#open) {
      if (run.inFlight > 0) continue
      // Nobody waits for an idle run; a failure to close it is found by the recovery at its next opening.
      void this.close(id).catch(() => {})
      return
    }
  }

  #sharedNetwork(): NetworkGuard {
    const { sandbox, limits, userAgent } = this.#options
    this.#network ??= createNetworkGuard({
      allowedHosts: sandbox.network ?? [],
      privateRanges: sandbox.privateRanges ?? [],
      maxBytes: limits.httpBytes,
      timeoutMs: limits.timeoutMs,
      userAgent,
    })
    return this.#network
  }
}

/** A new run id: sorts by time, says when. */
export function newRunId(clock: Clock): string {
  const stamp = new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  return `run-${stamp}-${randomBytes(4).toString('hex')}`
}

class OpenRun implements RunState {
  readonly id: string
  readonly records: RunRecords | undefined
  readonly cache
  readonly doors
  tainted = false
  inFlight = 0
  #files: FilesGuard | undefined

  constructor(id: string, records: RunRecords | undefined, options: RunsOptions, network: () => NetworkGuard) {
    this.id = id
    this.records = records
    this.cache = createRunCache({ ...CACHE_LIMITS, clock: options.clock })
    this.doors = { files: () => (this.#files ??= this.#openFiles(options)), network }
  }

  async close(): Promise<void> {
    this.#files?.close()
    await this.records?.close()
  }

  #openFiles({ sandbox, limits, protect }: RunsOptions): FilesGuard {
    const root = sandbox.root ?? this.records?.workspace
    const roots = [...(root === undefined ? [] : [{ path: root, mode: 'write' as const }]), ...(sandbox.roots ?? [])]
    if (roots.length === 0) {
      throw new ToolError('SANDBOX_UNAVAILABLE', 'There is no sandbox root, so no file can be touched.', {
        fix: { key: 'sandbox.root', hint: 'Set sandbox.root to the folder tools may use.' },
      })
    }
    return createFilesGuard({ roots, maxReadBytes: limits.readBytes, protect })
  }
}
