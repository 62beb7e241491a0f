import { randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import type { RunCache } from '../define.ts'
import { ToolError } from '../errors.ts'
import { createFilesGuard, type FilesGuard } from '../guards/files/files-guard.ts'
import { createNetworkGuard, type NetworkGuard } from '../guards/network/network-guard.ts'
import type { Durability, Limits, Sandbox } from '../options.ts'
import { RunRecords } from '../record/run-records.ts'
import type { RunState } from '../steps/parts.ts'
import { StartQueue } from '../steps/start-queue.ts'
import type { Doors } from '../steps/targets.ts'
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
  /** One for all runs when the owner named a root; otherwise each run has its own workspace. */
  #files: FilesGuard | undefined
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
    const { folder, durability, clock } = this.#options
    const records = folder === false ? undefined : RunRecords.open(folder, id, { durability, clock })
    const run = new OpenRun(
      id,
      records,
      clock,
      (run) => this.#filesFor(run),
      () => this.#sharedNetwork(),
    )
    this.#open.set(id, run)
    return run
  }

  /** For questions such as `explain`: the run when it is open, else one that is opened only if files must be looked at. */
  rehearsal(id: string): RunState {
    const files = () => (this.#hasOwnRoot ? this.#sharedFiles() : this.open(id).doors.files())
    return this.#open.get(id) ?? new OpenRun(id, undefined, this.#options.clock, files, () => this.#sharedNetwork())
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
    this.#files?.close()
    await this.#network?.close()
  }

  get #hasOwnRoot(): boolean {
    return this.#options.sandbox.root !== undefined
  }

  #closeIdle(): void {
    for (const [id, run] of this.#open) {
      if (run.inFlight > 0) continue
      // Nobody waits for an idle run; a failure to close it is found by the recovery at its next opening.
      void this.close(id).catch(() => {})
      return
    }
  }

  #filesFor(run: OpenRun): FilesGuard {
    if (this.#hasOwnRoot) return this.#sharedFiles()
    run.files ??= this.#openFiles(run.records?.workspace)
    return run.files
  }

  #sharedFiles(): FilesGuard {
    this.#files ??= this.#openFiles(this.#options.sandbox.root)
    return this.#files
  }

  #openFiles(root: string | undefined): FilesGuard {
    const { sandbox, limits, protect } = this.#options
    const roots = [...(root === undefined ? [] : [{ path: root, mode: 'write' as const }]), ...(sandbox.roots ?? [])]
    if (roots.length === 0) {
      throw new ToolError('SANDBOX_UNAVAILABLE', 'There is no sandbox root, so no file can be touched.', {
        fix: { key: 'sandbox.root', hint: 'Set sandbox.root to the folder tools may use.' },
      })
    }
    return createFilesGuard({ roots, maxReadBytes: limits.readBytes, protect })
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
  readonly cache: RunCache
  readonly starts: StartQueue
  readonly doors: Doors
  /** Its own, when the sandbox is the run's workspace. */
  files: FilesGuard | undefined
  tainted = false
  inFlight = 0

  constructor(
    id: string,
    records: RunRecords | undefined,
    clock: Clock,
    files: (run: OpenRun) => FilesGuard,
    network: () => NetworkGuard,
  ) {
    this.id = id
    this.records = records
    this.cache = createRunCache({ ...CACHE_LIMITS, clock })
    this.starts = new StartQueue(clock)
    this.doors = { files: () => files(this), network }
  }

  async close(): Promise<void> {
    this.files?.close()
    await this.records?.close()
  }
}
