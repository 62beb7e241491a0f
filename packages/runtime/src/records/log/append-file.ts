import * as fs from 'node:fs'
import { basename } from 'node:path'
import { type Clock, type Durability, ToolError } from '@tool-hub/core'
import { shortPath } from '@tool-hub/core/lib'
import { GroupCommit, openOurs } from '@tool-hub/sandbox/system'
import { diskError } from './disk-error.ts'
import { rewriteLines } from './lines.ts'

/** The two system calls that can fail while a run continues; tests replace them by a failing disk. */
export interface Disk {
  write(fd: number, bytes: Buffer, offset: number): number
  sync(fd: number, done: (error: Error | null) => void): void
}

const MACHINE_DISK: Disk = {
  write: fs.writeSync,
  sync: fs.fdatasync,
}

/** Waiting text is written at this size, whatever the schedule, to keep writes short and memory bounded. */
const WRITE_CHARS = 65_536
/** How much is kept in memory while the disk refuses writes: about 20,000 events. */
const KEPT_CHARS = 8 * 1024 * 1024
/** One buffer for all batches: it is written before `flush` returns, so that a call leaves no garbage to collect. */
const SCRATCH = Buffer.allocUnsafeSlow(4 * WRITE_CHARS)
/** Bytes of UTF-8 per UTF-16 code unit. */
const MAX_CHAR_BYTES = 3

/** An append-only file. Lines are kept until the disk has taken them: in order, none twice and none in part. */
export class AppendFile {
  readonly #path: string
  readonly #disk: Disk
  readonly #commit: GroupCommit
  /** `undefined` while the file is released. */
  #fd: number | undefined
  readonly #identity: string
  #syncsUnderWay = 0
  #bytes: number
  /** Bytes that the last successful sync has made durable. */
  #durableBytes = 0
  #text = ''
  /**
   * The rest of a batch that the disk has not taken; it is written before anything else, so that no line stays torn.
   */
  #rest: Buffer | undefined
  #problem: ToolError | undefined
  #syncProblem: ToolError | undefined
  #isClosed = false

  constructor(path: string, disk: Disk = MACHINE_DISK) {
    const { fd, size, identity } = openAlone(path, fs.constants.O_APPEND | fs.constants.O_CREAT)
    this.#fd = fd
    this.#identity = identity
    this.#path = path
    this.#disk = disk
    this.#bytes = size
    this.#commit = new GroupCommit(() => this.#sync())
  }

  /** The descriptor of the file, which is opened again if it was released. */
  get fd(): number {
    this.#fd ??= this.#reopen()
    return this.#fd
  }

  /** Whether the file was removed after it was released. */
  get isGone(): boolean {
    return this.#fd === undefined && !this.#isClosed && !fs.existsSync(this.#path)
  }

  /** Bytes in the file. */
  get bytes(): number {
    return this.#bytes
  }

  /** Why the disk refuses writes; `undefined` as soon as it takes lines again. */
  get problem(): ToolError | undefined {
    return this.#syncProblem ?? this.#problem
  }

  /** Whether the last sync failed: the next one that succeeds makes the lines durable that the system may have dropped. */
  get isSyncLost(): boolean {
    return this.#syncProblem !== undefined
  }

  get hasWaiting(): boolean {
    return this.#text !== '' || this.#rest !== undefined
  }

  /** Whether the disk refuses writes and the memory for waiting lines is used up. */
  get isFull(): boolean {
    return this.#problem !== undefined && this.#text.length + (this.#rest?.length ?? 0) > KEPT_CHARS
  }

  /** Whether so much waits that it should be written now. */
  get isDue(): boolean {
    return this.#text.length >= WRITE_CHARS && this.#problem === undefined
  }

  append(line: string): void {
    this.#text += line
  }

  /**
   * Writes all waiting lines. Returns the error if the disk refuses.
   * Synchronous on purpose, the second measured exception to "no Sync": an append to the page cache takes about 2 us,
   * an asynchronous one 40 us and a hop to another thread, and a call waits for it.
   */
  flush(): ToolError | undefined {
    if (this.#isClosed) return this.problem
    if (this.#rest && !this.#write(this.#rest)) return this.#problem
    if (this.#text === '') return this.problem
    const isShort = this.#text.length * MAX_CHAR_BYTES <= SCRATCH.length
    const batch = isShort ? SCRATCH.subarray(0, SCRATCH.write(this.#text)) : Buffer.from(this.#text)
    this.#text = ''
    this.#write(batch)
    return this.problem
  }

  /** Resolves when all lines appended so far survive a loss of power. Concurrent callers share one fsync. */
  synced(): Promise<void> {
    return this.#commit.wait()
  }

  /** Reads what is in the file, also after it was closed; shorter at its end. */
  read(position: number, length: number): Buffer {
    const fd = this.#isClosed ? openAlone(this.#path, fs.constants.O_APPEND).fd : this.fd
    try {
      const bytes = Buffer.allocUnsafe(length)
      return bytes.subarray(0, fs.readSync(fd, bytes, 0, length, position))
    } finally {
      if (this.#isClosed) fs.closeSync(fd)
    }
  }

  /** Truncates the file to its first `bytes`; only before anything is appended. */
  truncate(bytes: number): void {
    if (bytes === this.#bytes) return
    fs.ftruncateSync(this.fd, bytes)
    this.#bytes = bytes
  }

  /** Closes the descriptor if nothing is waiting; the next use opens it again. */
  release(): void {
    if (this.#fd === undefined || this.#isClosed || this.hasWaiting || this.#syncsUnderWay > 0) return
    fs.closeSync(this.#fd)
    this.#fd = undefined
  }

  /** Closes the file. Lines that still wait are dropped: the descriptor may soon belong to another file. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#text = ''
    this.#rest = undefined
    if (this.#fd !== undefined) fs.closeSync(this.#fd)
  }

  /** A file that was replaced or changed meanwhile must not be continued: its chain would break there. */
  #reopen(): number {
    const { fd, size, identity } = openAlone(this.#path, fs.constants.O_APPEND)
    if (size === this.#bytes && identity === this.#identity) return fd
    fs.closeSync(fd)
    throw new ToolError('RECORDS_UNAVAILABLE', `${shortPath(this.#path)} was changed while nobody used it.`, {
      hint: 'Run tool-hub audit verify, and use another run id.',
      details: { path: this.#path },
    })
  }

  #write(batch: Buffer): boolean {
    let offset = 0
    try {
      while (offset < batch.length) {
        const taken = this.#disk.write(this.fd, batch, offset)
        if (taken <= 0) throw new Error('The disk took nothing.')
        offset += taken
      }
      this.#rest = undefined
      this.#problem = undefined
    } catch (error) {
      const rest = batch.subarray(offset)
      // Copied once, out of the shared buffer; what was tried before is a copy already.
      this.#rest = batch === this.#rest ? rest : Buffer.from(rest)
      this.#problem = diskError(`${basename(this.#path)} cannot be written`, this.#path, error)
    }
    this.#bytes += offset
    return this.#rest === undefined
  }

  async #sync(): Promise<void> {
    this.flush()
    if (this.#problem) throw this.#problem
    if (this.#isClosed && this.#syncProblem) throw this.#syncProblem
    if (this.#isClosed) return
    const bytes = this.#bytes
    this.#syncsUnderWay++
    try {
      if (this.#syncProblem) await this.#rewrite(bytes)
      else await this.#syncDescriptor(this.#descriptor())
      this.#durableBytes = bytes
      this.#syncProblem = undefined
    } finally {
      this.#syncsUnderWay--
    }
  }

  #descriptor(): number {
    try {
      return this.fd
    } catch (error) {
      throw diskError(`${basename(this.#path)} cannot be opened`, this.#path, error)
    }
  }

  async #syncDescriptor(fd: number): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        this.#disk.sync(fd, (error) => (error ? reject(error) : resolve()))
      })
    } catch (error) {
      this.#syncProblem = diskError(`${basename(this.#path)} cannot be made durable`, this.#path, error)
      throw this.#syncProblem
    }
  }

  /**
   * The system may have dropped what it could not store, and a later sync would not report it: all lines since the last
   * successful sync are verified and written again.
   */
  async #rewrite(end: number): Promise<void> {
    // At its place in the file, which a descriptor that appends cannot do.
    const { fd, identity } = openAlone(this.#path)
    try {
      const isSame = identity === this.#identity && (await rewriteLines(fd, { start: this.#durableBytes, end }))
      if (!isSame) throw this.#syncProblem
      await this.#syncDescriptor(fd)
    } catch (error) {
      throw diskError(`${basename(this.#path)} cannot be made durable`, this.#path, error)
    } finally {
      fs.closeSync(fd)
    }
  }
}

const BEHIND_MS = 100
const RETRY_MS = 1_000
/**
 * With so few calls in flight an end is written immediately: that takes 2 us, waiting for the tick 4 us (measured).
 * With more calls, all ends of a tick share one write, which saves each call 2 us.
 */
const FEW_CALLS = 4

interface ScheduleOptions {
  readonly durability: Durability
  readonly clock: Clock
  readonly onProblem?: (error: ToolError) => void
}

/** Decides when waiting lines are written: immediately, at the end of the tick, or behind. */
export class WriteSchedule {
  readonly #file: AppendFile
  readonly #options: ScheduleOptions
  #isTickRequested = false
  #waiting: { readonly promise: Promise<void>; readonly settle: (problem: ToolError | undefined) => void } | undefined
  #cancelTimer: (() => void) | undefined
  #isProblemTold = false

  constructor(file: AppendFile, options: ScheduleOptions) {
    this.#file = file
    this.#options = options
  }

  /** Requests that waiting lines are written soon. */
  request(): void {
    if (this.#file.isDue) this.#flush()
    else if (this.#options.durability === 'behind') this.#after(BEHIND_MS)
    else this.#requestTick()
  }

  /**
   * Resolves when all lines are in the file. Returns `undefined` if they are already, or nobody should wait for them.
   */
  written(callsInFlight: number): Promise<void> | undefined {
    if (this.#options.durability === 'behind' || !this.#file.hasWaiting) return undefined
    if (callsInFlight <= FEW_CALLS) {
      const problem = this.#flush()
      return problem && Promise.reject(problem)
    }
    this.#requestTick()
    this.#waiting ??= waiting()
    return this.#waiting.promise
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  #requestTick(): void {
    if (this.#isTickRequested) return
    this.#isTickRequested = true
    setImmediate(this.#tick)
  }

  readonly #tick = (): void => {
    this.#isTickRequested = false
    const problem = this.#flush()
    this.#waiting?.settle(problem)
    this.#waiting = undefined
  }

  #flush(): ToolError | undefined {
    const problem = this.#file.flush()
    if (problem) {
      this.#after(RETRY_MS)
      if (!this.#isProblemTold) this.#options.onProblem?.(problem)
    }
    this.#isProblemTold = problem !== undefined
    return problem
  }

  #after(ms: number): void {
    this.#cancelTimer ??= this.#options.clock.after(ms, this.#timer, { background: true })
  }

  readonly #timer = (): void => {
    this.#cancelTimer = undefined
    this.#flush()
  }
}

function waiting() {
  let settle: (problem: ToolError | undefined) => void = () => {}
  const promise = new Promise<void>((resolve, reject) => {
    settle = (problem) => (problem ? reject(problem) : resolve())
  })
  return { promise, settle }
}

/** Opens the file if it has no second name: otherwise what we append would also appear in another user's file. */
function openAlone(path: string, flags = 0): { readonly fd: number; readonly size: number; readonly identity: string } {
  const name = shortPath(path)
  const fd = openOurs(path, fs.constants.O_RDWR | flags, { name })
  const { nlink, size, dev, ino } = fs.fstatSync(fd)
  if (nlink <= 1) return { fd, size, identity: `${dev}:${ino}` }
  fs.closeSync(fd)
  throw new ToolError('CONFIG_INVALID', `${name} has ${nlink} names (hard links), so it may be a file of others.`, {
    hint: `Put a copy in its place: cp ${name} copy, then mv copy ${name}; or use another run id.`,
    details: { path },
  })
}
