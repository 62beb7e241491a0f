import { join } from 'node:path'
import {
  type Clock,
  type HeadStore,
  type IndexedCall,
  type IndexedRun,
  isRunId,
  messageOf,
  type Store,
  systemClock,
  ToolError,
} from '@tool-hub/core'
import { escapeLine, escapeText } from '@tool-hub/core/lib'
import type {
  AuditReport,
  auditQuery,
  CallDetail,
  CallEntry,
  callQuery,
  FileChangeEntry,
  lineQuery,
  RecordLine,
  RunDetail,
  RunEntry,
  RunLaterList,
  RunTaint,
  runQuery,
  UndoAnswer,
  undoRequest,
} from '@tool-hub/core/protocol'
import { type Hub, pruneRun, type RunIndexer, readTaint, runsBelow } from '@tool-hub/runtime/hub'
import { type AuditFinding, type FirstLines, FolderCheck, type VerifyReport } from '@tool-hub/runtime/records/log'
import { createRedactor } from '@tool-hub/runtime/records/redaction'
import type { z } from 'zod'
import { describeRun, openRecord, showLine, toCallEntry, toRunEntry, toRunLaterList } from './call-entries.ts'
import { fileChanges } from './file-changes.ts'
import { SharedTurns } from './shared-turns.ts'

const MAX_CONCURRENT = 5_000

/** Options of `createCallHistory`. */
export interface CallHistoryOptions {
  readonly hub: Pick<Hub, 'undo' | 'explain' | 'run' | 'endRun' | 'recordChange' | 'retention'> &
    Partial<Pick<Hub, 'sharedRecords'>>
  readonly store: Store
  readonly runsFolder: string
  readonly indexer: Pick<RunIndexer, 'flush'>
  readonly clock?: Clock
  /** Redacts secrets. Default: whatever has the form of a secret. */
  readonly redact?: (text: string) => string
}

const MAX_CALLS_OF_RUN = 5_000
const MAX_CHILDREN = 500
const MAX_LINES = 1_000

/** The calls and runs on record. */
export type CallHistory = ReturnType<typeof createCallHistory>

/** Creates the history: lists come from the index, everything else from the records. */
export function createCallHistory(options: CallHistoryOptions) {
  const { hub, store, runsFolder, indexer, clock = systemClock, redact } = options
  const { calls: index } = store
  const hideSecrets = redact ?? createRedactor({}).text
  const folderOf = (run: string) => {
    if (isRunId(run)) return join(runsFolder, run)
    throw noRun(run)
  }
  const recordOf = async (run: string) => {
    const folder = folderOf(run)
    return openRecord(folder, await hub.sharedRecords?.source(run))
  }
  const findRun = async (run: string) => {
    await indexer.flush()
    const found = isRunId(run) ? await index.run(run) : undefined
    if (found) return found
    throw noRun(run)
  }

  return {
    async calls({ limit, ...filter }: z.output<typeof callQuery>): Promise<{ calls: CallEntry[]; next?: number }> {
      await indexer.flush()
      const { items, next } = await pageOf((most) => index.calls({ ...filter, limit: most }), limit)
      return { calls: items.map(toCallEntry), next }
    },

    /** Throws NOT_FOUND if the call does not exist. */
    async call(callId: string): Promise<CallDetail> {
      await indexer.flush()
      const call = await index.call(callId)
      if (!call) throw noCall(callId)
      const lines = await (await recordOf(call.run)).callLines((line) => line.callId === callId)
      return { call: toCallEntry(call), lines, children: (await childrenOf(call)).map(toCallEntry) }
    },

    async runs(query: z.output<typeof runQuery>): Promise<{ runs: RunEntry[]; next?: number }> {
      const { limit, from, to, before, ...rest } = query
      await indexer.flush()
      const filter = {
        ...rest,
        since: from,
        before: before === undefined || to === undefined ? (before ?? to) : Math.min(before, to),
      }
      const { items, next } = await pageOf((most) => index.runs({ ...filter, limit: most }), limit)
      return { runs: await Promise.all(items.map(describe)), next }
    },

    async run(run: string): Promise<RunDetail> {
      const found = await findRun(run)
      const latest = await index.calls({ run, limit: MAX_CALLS_OF_RUN + 1 })
      const calls = latest.slice(0, MAX_CALLS_OF_RUN).toSorted(byStart).map(toCallEntry)
      return { run: await describe(found), calls, isTruncated: latest.length > MAX_CALLS_OF_RUN }
    },

    /** Lines of the record after `after`. */
    async lines(run: string, { after, limit }: z.output<typeof lineQuery>): Promise<RecordLine[]> {
      const lines: RecordLine[] = []
      if (limit <= 0) return lines
      for await (const event of (await recordOf(run)).events(after + 1)) {
        lines.push(showLine(event))
        if (lines.length >= Math.min(limit, MAX_LINES)) break
      }
      return lines
    },

    /** The record as it is on disk. */
    async export(run: string): Promise<ReadableStream<Uint8Array>> {
      return (await recordOf(run)).export()
    },

    async runLater(run: string): Promise<RunLaterList> {
      const { run: id } = await findRun(run)
      const record = await recordOf(id)
      return toRunLaterList(await record.callLines(({ type }) => type === 'run-later-changed'))
    },

    async taint(run: string): Promise<RunTaint> {
      const { run: id } = await findRun(run)
      const { sources, cleared } = await readTaint(folderOf(id))
      return { isTainted: sources.length > 0, sources: sources.map(escapeLine), cleared: cleared.map(showCleared) }
    },

    changes: (run: string): Promise<FileChangeEntry[]> => fileChanges(runsFolder, run, { hub, hideSecrets }),

    async undo(
      run: string,
      { by, ...wish }: z.output<typeof undoRequest> & { by: string; signal?: AbortSignal },
    ): Promise<UndoAnswer> {
      folderOf(run)
      const { ok, dryRun, calls, changes } = await hub.undo({ run, caller: by, ...wish })
      const tools = new Map(calls.map(({ callId, tool }) => [callId, tool]))
      return {
        ok,
        dryRun,
        changes: changes.map(({ call, path, action, reason, diff }) => ({
          callId: call,
          tool: escapeLine(tools.get(call) ?? ''),
          path: escapeLine(path),
          action,
          ...(reason !== undefined && { reason: escapeLine(reason) }),
          ...(diff !== undefined && { diff: escapeText(hideSecrets(diff)) }),
        })),
      }
    },

    /**
     * Removes a run that has ended and records the removal. Throws CONFLICT while something runs in it, or if its record
     * does not verify.
     */
    async remove(run: string, { by }: { by: string }): Promise<void> {
      const found = await findRun(run)
      await removeEndedRun(found.run, { hub, store, runsFolder, clock, by })
    },

    async verify({ run, only }: z.output<typeof auditQuery> = {}): Promise<AuditReport> {
      const wanted = only === 'missing' ? [] : run === undefined ? undefined : [(await findRun(run)).run]
      const shared = hub.sharedRecords
      return shared ? verifyAllShared(shared, wanted) : verifyRuns(runsFolder, store.heads, wanted)
    },
  }

  async function describe(run: IndexedRun): Promise<RunEntry> {
    return toRunEntry(run, await describeRun(run.run, store))
  }

  /** They started and ended while the call was in progress. */
  async function childrenOf({ callId, run, startedAt, durationMs }: IndexedCall): Promise<IndexedCall[]> {
    const before = durationMs === undefined ? {} : { before: Math.ceil(startedAt + durationMs) + 1 }
    const beside = await index.calls({ run, ...before, limit: MAX_CALLS_OF_RUN })
    return beside
      .filter(({ parent }) => parent === callId)
      .toSorted(byStart)
      .slice(0, MAX_CHILDREN)
  }
}

/** Records are files that others may have written to: takes only texts. */
function showCleared({ time, by, reason, sources }: Awaited<ReturnType<typeof readTaint>>['cleared'][number]) {
  return {
    at: Date.parse(time) || 0,
    by: escapeLine(String(by)),
    reason: escapeText(String(reason)),
    sources: Array.isArray(sources) ? sources.map((source) => escapeLine(String(source))) : [],
  }
}

function byStart(a: IndexedCall, b: IndexedCall): number {
  return a.startedAt - b.startedAt || a.seq - b.seq
}

function noRun(run: string): ToolError {
  return new ToolError('NOT_FOUND', `Run ${JSON.stringify(run.slice(0, 64))} not found.`, {
    hint: 'List the runs with GET /v1/runs or tool-hub runs.',
  })
}

function noCall(callId: string): ToolError {
  return new ToolError('NOT_FOUND', `Call ${JSON.stringify(callId.slice(0, 64))} not found in the records.`, {
    hint: 'List the calls with GET /v1/calls.',
  })
}

/** A page of a list, newest first. */
interface Page<T> {
  readonly items: readonly T[]
  /** `before` of the next page; absent if there is none. */
  readonly next?: number
}

/**
 * Returns a page that does not split items of the same millisecond, because the next page starts before a time and
 * would miss some. It may be shorter for that, or longer if one millisecond fills it.
 */
async function pageOf<T extends { readonly startedAt: number }>(
  fetch: (limit: number) => Promise<readonly T[]> | readonly T[],
  limit: number,
): Promise<Page<T>> {
  const found = await fetch(limit + 1)
  if (found.length <= limit) return { items: found }
  const { startedAt } = found[limit]!
  const before = found.filter((item) => item.startedAt > startedAt)
  if (before.length > 0) return { items: before, next: startedAt + 1 }
  if (limit >= MAX_CONCURRENT) return { items: found.slice(0, limit), next: startedAt }
  const same = (await fetch(MAX_CONCURRENT)).filter((item) => item.startedAt === startedAt)
  return { items: same, next: startedAt }
}

const MAX_RUNS = 1_000
const AT_ONCE = 4
/** One queue for the process, because all checks read the same disk. */
const TURNS = new SharedTurns('A check of records')

/** Cached between checks, so that the first line of every run is read once. */
const FIRST_LINES: FirstLines = new Map()

/**
 * Verifies the records of these runs, or of the 1,000 latest; without runs it also looks for missing ones. One check at
 * a time.
 */
function verifyRuns(folder: string, heads: HeadStore, runs?: readonly string[]): Promise<AuditReport> {
  return TURNS.share(JSON.stringify([folder, runs]), () => verifyAll(folder, heads, runs))
}

async function verifyAll(folder: string, heads: HeadStore, runs: readonly string[] | undefined): Promise<AuditReport> {
  const check = await FolderCheck.open(folder, heads, FIRST_LINES)
  const wanted = runs ?? (await runsBelow(folder)).slice(0, MAX_RUNS).map(({ run }) => run)
  const reports: AuditReport['runs'] = new Array(wanted.length)
  let next = 0
  const work = async () => {
    for (let index = next++; index < wanted.length; index = next++) reports[index] = await verify(check, wanted[index]!)
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, wanted.length) }, work))
  if (!runs?.length) reports.push(...check.missing().slice(0, MAX_RUNS).map(toEntry))
  return { ok: reports.every(({ ok }) => ok), runs: reports }
}

/** The same for records that machines share: they are read from the store. */
function verifyAllShared(
  shared: NonNullable<Hub['sharedRecords']>,
  runs: readonly string[] | undefined,
): Promise<AuditReport> {
  return TURNS.share(JSON.stringify(['shared', runs]), async () => {
    const check = await shared.openCheck()
    const wanted = runs?.length === 0 ? check.missing() : (runs ?? check.runs())
    const reports: AuditReport['runs'] = []
    for (const run of wanted.slice(-MAX_RUNS)) reports.push(toEntry(await check.verify(run)))
    return { ok: reports.every(({ ok }) => ok), runs: reports }
  })
}

/** A record that cannot be read counts as broken; the others are still checked. */
async function verify(check: FolderCheck, run: string): Promise<AuditReport['runs'][number]> {
  try {
    return toEntry(await check.verify(run))
  } catch (error) {
    const problems = [{ message: escapeLine(messageOf(error)) }]
    return { run, ok: false, state: 'broken', lines: 0, calls: 0, interrupted: 0, problems, remarks: [] }
  }
}

function toEntry({ run, problems, remarks, ...rest }: VerifyReport) {
  return { run: escapeLine(run), ...rest, problems: problems.map(toFinding), remarks: remarks.map(toFinding) }
}

function toFinding({ problem, seq }: AuditFinding): { message: string; seq: number } {
  return { message: escapeLine(problem), seq }
}

/** Options of `removeEndedRun`. */
interface RemoveEndedRunOptions {
  readonly hub: Pick<Hub, 'run' | 'endRun' | 'recordChange' | 'retention'>
  readonly store: Store
  readonly runsFolder: string
  readonly clock: Clock
  readonly by: string
}

const MAX_WAITING = 1_000

/** Removes a run that has ended, as retention does: the removal is recorded, so that it can be proven. */
async function removeEndedRun(run: string, options: RemoveEndedRunOptions): Promise<void> {
  const { hub, store, runsFolder, clock, by } = options
  const [busy, hint] = (await whatRuns(run, options)) ?? []
  if (busy !== undefined) throw new ToolError('CONFLICT', `Run ${run} was not removed. ${busy}`, { hint: hint! })
  const kept = await pruneRun(run, {
    runsFolder,
    store,
    retention: hub.retention,
    by,
    now: clock.now(),
    record: (change) => hub.recordChange(change),
    end: (id) => hub.endRun(id),
  })
  if (kept === undefined) return
  throw new ToolError('CONFLICT', `Run ${run} was not removed. ${kept}`, {
    hint: 'A run that another process has open, or whose record does not verify, is kept.',
  })
}

async function whatRuns(
  run: string,
  { hub, store }: RemoveEndedRunOptions,
): Promise<readonly [problem: string, hint: string] | undefined> {
  if (run === hub.run) return ['The service records its own changes in it.', 'It ends with the service.']
  const [call] = await store.calls.calls({ run, status: 'running', limit: 1 })
  if (call) return [`${call.tool} is running in it.`, 'Wait until the call ends.']
  const waiting = await store.approvals.list({ state: 'waiting', limit: MAX_WAITING })
  if (waiting.some((ask) => ask.run === run)) return ['A call of it waits for a person.', 'Answer that first.']
  return (await describeRun(run, store))?.busy
}
