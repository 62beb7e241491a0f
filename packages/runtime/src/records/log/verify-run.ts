import { readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf } from '@tool-hub/core/lib'
import { isLocked } from '@tool-hub/sandbox/system'
import { ArtifactCheck } from '../artifacts.ts'
import { CallLines, hasFailed, withoutDetails } from './call-log.ts'
import { diskError } from './disk-error.ts'
import { type Head, readHead } from './head.ts'
import { LineReader } from './lines.ts'
import {
  type AuditFinding,
  AuditFindings,
  ChainCheck,
  type CheckedEvent,
  type KnownHead,
  LogCheck,
} from './record-check.ts'

/** The result of `audit verify` for one run. */
export interface VerifyReport {
  /** The state is `intact`, `open` or `moved`. */
  readonly ok: boolean
  readonly run: string
  /**
   * `intact`: nothing was changed, and its end is proven. `open`: the same so far, and a process is still writing.
   * `moved`: the same as far as this machine has it, and another process has continued it. `unproven`: nothing was changed in
   * what is there, but nothing proves that this is all. `broken`: see `problems`.
   */
  readonly state: 'intact' | 'open' | 'moved' | 'unproven' | 'broken'
  readonly lines: number
  readonly calls: number
  readonly interrupted: number
  /** What is not as it was written; at most 100. */
  readonly problems: readonly AuditFinding[]
  /** What a crash explains, such as half a line at the end, and why an end is not proven; at most 100. */
  readonly remarks: readonly AuditFinding[]
}

/** What is known about a run outside its folder. */
export interface VerifyOptions {
  /** Lines that it must have. */
  readonly known?: readonly KnownHead[]
  /** Returns the last event in the store, or 0 if there is none. */
  readonly lastInStore?: () => Promise<number>
  /** Says how the run moved on to another process, if nothing else proves its end. Default: it did not move. */
  readonly findMove?: () => Promise<string | undefined>
}

const KILLED =
  'the process was killed after the run was closed and before head.json was written; the next start of the service writes it'

/** A call that started is remembered until its end; a run with more open calls than this is not one of ours. */
const MAX_OPEN_CALLS = 100_000

/**
 * Finds any changed, removed, inserted or reordered line of a run, logs and artifacts that are not what the events
 * say, lines known elsewhere that are missing, and an end that nothing proves. The logs of a run that is open or
 * crashed may lag behind, and its last line may be torn. Memory stays bounded, however long the run.
 */
export async function verifyRun(folder: string, options: VerifyOptions = {}): Promise<VerifyReport> {
  const check = new RunCheck(resolve(folder), options)
  try {
    return await check.run()
  } catch (error) {
    throw diskError(`Run ${basename(resolve(folder))} cannot be verified`, folder, error)
  }
}

class RunCheck {
  readonly #folder: string
  readonly #options: VerifyOptions
  readonly #findings = new AuditFindings()
  readonly #calls = new CallLines()
  readonly #artifacts: ArtifactCheck

  constructor(folder: string, options: VerifyOptions) {
    this.#folder = folder
    this.#options = options
    this.#artifacts = new ArtifactCheck(join(folder, 'artifacts'))
  }

  async run(): Promise<VerifyReport> {
    const run = basename(this.#folder)
    const wasOpen = await this.#isOpen()
    const found = await readHead(this.#folder)
    if (found === 'broken') this.#findings.report('head.json cannot be read as we wrote it', { seq: 0 })
    const head = found === 'broken' ? undefined : found
    const chain = new ChainCheck(this.#findings, { run, head, known: this.#options.known ?? [] })
    const tools = await this.#openLog('tools.jsonl')
    const errors = await this.#openLog('errors.jsonl')
    try {
      const torn = await this.#readEvents(chain, tools, errors)
      const isOpen = wasOpen || (await this.#isOpen())
      const isEnded = chain.last.type === 'run-closed' && !isOpen
      const isKilled = isEnded && found !== 'broken' && head?.seq !== chain.last.seq && (await this.#hasLock())
      const isClosed = isEnded && !isKilled
      const isUnused = chain.lines === 0 && (await this.#isUnused(found))
      this.#checkEnd(chain, { head, isHeadBroken: found === 'broken', isClosed, isUnused, torn })
      const end = { complete: isClosed ? chain.last.seq : (head?.seq ?? 0), last: chain.last.seq }
      for (const log of [tools, errors]) await (chain.isBroken ? log.endOfBroken(end.last) : log.end(end))
      const doubt = isUnused || isOpen ? undefined : await this.#doubtOf(chain, isClosed)
      const isSound = this.#findings.problems.length === 0
      const move = doubt !== undefined && isSound ? await this.#options.findMove?.() : undefined
      const remark = move ?? doubt
      if (remark !== undefined && (isSound || chain.last.type === 'run-closed'))
        this.#findings.remark(remark, chain.last.seq)
      return this.#report(
        chain,
        isOpen ? 'open' : doubt === undefined ? 'intact' : move === undefined ? 'unproven' : 'moved',
      )
    } finally {
      await Promise.all([tools.close(), errors.close()])
    }
  }

  #report({ lines, calls, interrupted }: ChainCheck, sound: VerifyReport['state']): VerifyReport {
    const { problems, remarks } = this.#findings
    const state = problems.length > 0 ? 'broken' : sound
    const ok = state !== 'broken' && state !== 'unproven'
    return { ok, run: basename(this.#folder), state, lines, calls, interrupted, problems, remarks }
  }

  /**
   * Why the end is not proven; `undefined` if it is: the run was closed, and the store knows that, too. The store is read last:
   * it was written before the run was released.
   */
  async #doubtOf({ keepsHeads, last: { seq, type } }: ChainCheck, isClosed: boolean): Promise<string | undefined> {
    if (!isClosed) {
      if (type === 'run-closed') return KILLED
      return 'the run was not closed: a crash leaves it so, and so does who removes its end'
    }
    const { lastInStore } = this.#options
    if (!lastInStore) return undefined
    if (keepsHeads === undefined) {
      this.#findings.remark('recorded before heads were kept: only head.json proves its end', seq)
      return undefined
    }
    const known = await lastInStore()
    if (known === seq) return undefined
    if (keepsHeads === 'files') {
      this.#findings.remark('written by a hub without a store: only head.json and later runs prove its end', seq)
      return undefined
    }
    if (known > seq) return `the store knows this run up to event ${known}, but this machine has it up to event ${seq}`
    const most = known === 0 ? 'has no head of this run' : `knows this run up to event ${known} only`
    return `the store ${most}, but the run was closed by event ${seq}`
  }

  /** Checks all lines. Returns how many bytes follow the last complete one. */
  async #readEvents(chain: ChainCheck, tools: LogCheck, errors: LogCheck): Promise<number> {
    const reader = await this.#openEvents()
    if (!reader) return 0
    try {
      for (let lines = await reader.next(); lines; lines = await reader.next()) {
        for (const line of lines) {
          const checked = chain.add(line)
          if (checked && !chain.isBroken) await this.#checkCall(chain, checked, tools, errors)
        }
      }
      return reader.rest.length
    } finally {
      await reader.close()
    }
  }

  async #checkCall(chain: ChainCheck, checked: CheckedEvent, tools: LogCheck, errors: LogCheck): Promise<void> {
    const { event, body, facts } = checked
    const line = this.#calls.add(event, { ...facts, body })
    if (line !== undefined && 'status' in event) {
      const isFailure = hasFailed(event.status)
      await tools.expect(facts.seq, isFailure ? withoutDetails(line) : line)
      if (isFailure) await errors.expect(facts.seq, line)
    }
    if (this.#calls.open.size > MAX_OPEN_CALLS) {
      chain.report(
        `starts a call while ${MAX_OPEN_CALLS} others have no end; the logs are not compared further`,
        facts.seq,
      )
      chain.isBroken = true
    }
    // A result that was repeated belongs to the run that made it.
    if (event.type !== 'call-ended' || event.cached) return
    for (const ref of Array.isArray(event.artifacts) ? event.artifacts : []) {
      const problem = await this.#artifacts.problemOf(String(ref))
      if (problem !== undefined) chain.report(`names ${String(ref).slice(0, 73)}, which ${problem}`, facts.seq)
    }
  }

  #checkEnd(
    { lines, last }: ChainCheck,
    found: {
      readonly head: Head | undefined
      readonly isHeadBroken: boolean
      readonly isClosed: boolean
      readonly isUnused: boolean
      readonly torn: number
    },
  ): void {
    const { head, isHeadBroken, isClosed, torn } = found
    const { seq } = last
    if (lines === 0 && !found.isUnused)
      this.#findings.report('events.jsonl is missing or has no event, not even the one that opens the run', { seq })
    if (found.isUnused) this.#findings.remark('nothing was recorded: the process ended before its first line', seq)
    if (head && head.run !== basename(this.#folder))
      this.#findings.report(`head.json is of the run ${head.run.slice(0, 64)}`, { seq })
    if (head && head.seq > seq)
      this.#findings.report(`lines were removed at the end: events up to ${head.seq} had been written`, { seq })
    for (const known of this.#options.known ?? []) {
      if (known.seq <= seq) continue
      const names = `${known.source} names event ${known.seq}`
      this.#findings.report(`lines were removed at the end: ${names}`, { seq })
    }
    if (isClosed && !head && !isHeadBroken)
      this.#findings.report('head.json is missing, but the run was closed', { seq })
    if (isClosed && head && head.seq < seq)
      this.#findings.report(`head.json ends with event ${head.seq}, but the run was closed by event ${seq}`, { seq })
    if (torn === 0) return
    const fragment = `${torn} bytes follow the last line and are no whole one`
    if (isClosed) this.#findings.report(`${fragment}, but the run was closed`, { seq })
    else this.#findings.remark(`${fragment}, as a crash leaves it; the next start sets them aside`, seq)
  }

  /**
   * Whether the folder has no trace of a record, and nothing is known about the run elsewhere: a process that was
   * killed, lost power or met a full disk before the first line created the folder.
   */
  async #isUnused(head: Head | 'broken' | undefined): Promise<boolean> {
    const { known = [], lastInStore } = this.#options
    if (head !== undefined || known.length > 0 || ((await lastInStore?.()) ?? 0) > 0) return false
    for (const name of ['artifacts', 'archive', 'undo']) {
      if ((await namesIn(join(this.#folder, name))).length > 0) return false
    }
    return true
  }

  #isOpen(): Promise<boolean> {
    return isLocked(join(this.#folder, 'lock'))
  }

  /** Whether a process ended without releasing the run. */
  async #hasLock(): Promise<boolean> {
    return (await namesIn(this.#folder)).includes('lock')
  }

  #openLog(name: string): Promise<LogCheck> {
    return LogCheck.open(join(this.#folder, 'logs', name), `logs/${name}`, this.#findings)
  }

  async #openEvents(): Promise<LineReader | undefined> {
    try {
      // An open run may write faster than it is read here.
      return await LineReader.open(join(this.#folder, 'events.jsonl'), 0, { asOfNow: true })
    } catch (error) {
      if (!ToolError.is(error) && errnoOf(error) !== 'ENOENT') throw error
      if (ToolError.is(error)) this.#findings.report(error.message, { seq: 0 })
      return undefined
    }
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
