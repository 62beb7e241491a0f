import { join } from 'node:path'
import { type Clock, systemClock } from '../../clock.ts'
import { ToolError } from '../../errors.ts'
import type { RunIndexer } from '../../hub/run-index/run-indexer.ts'
import type { Hub } from '../../hub.ts'
import { isRunId } from '../../names.ts'
import { readEvents } from '../../record/read-events.ts'
import { createRedactor } from '../../record/redact.ts'
import type { IndexedCall, IndexedRun, Store } from '../../store.ts'
import { escapeLine, escapeText } from '../../value/escape-text.ts'
import type { CallDetail, RecordLine } from '../api/calls.ts'
import type { RunEntry } from '../api/runs.ts'
import type { CallBook } from '../service.ts'
import { exportRecord } from './export-record.ts'
import { fileChanges } from './file-changes.ts'
import { pageOf } from './page-of.ts'
import { readCallLines } from './read-call-lines.ts'
import { removeEndedRun } from './remove-ended-run.ts'
import { showLine } from './show-line.ts'
import { toCallEntry, toRunEntry } from './to-entry.ts'
import { verifyRuns } from './verify-runs.ts'

/** What the book is kept with. */
export interface CallBookOptions {
  readonly hub: Pick<Hub, 'undo' | 'explain' | 'run' | 'endRun' | 'recordChange'>
  readonly store: Pick<Store, 'calls' | 'heads' | 'asks' | 'sessions'>
  readonly runsFolder: string
  readonly indexer: Pick<RunIndexer, 'flush'>
  readonly clock?: Clock
  /** Takes out of texts what nobody may see; what has the shape of a secret unless said. */
  readonly redact?: (text: string) => string
}

const MOST_CALLS_OF_RUN = 5_000
const MOST_CHILDREN = 500
const MOST_LINES = 1_000

/** What was done: lists from the index, everything else from the records themselves. */
export function createCallBook(options: CallBookOptions): CallBook {
  const { hub, store, runsFolder, indexer, clock = systemClock, redact } = options
  const { calls: index } = store
  const hideSecrets = redact ?? createRedactor({}).text
  const folderOf = (run: string) => {
    if (isRunId(run)) return join(runsFolder, run)
    throw noRun(run)
  }
  const findRun = async (run: string) => {
    await indexer.flush()
    const found = isRunId(run) ? await index.run(run) : undefined
    if (found) return found
    throw noRun(run)
  }

  return {
    async calls({ limit, ...filter }) {
      await indexer.flush()
      const { items, next } = await pageOf((most) => index.calls({ ...filter, limit: most }), limit)
      return { calls: items.map(toCallEntry), ...(next !== undefined && { next }) }
    },

    async call(callId): Promise<CallDetail> {
      await indexer.flush()
      const call = await index.call(callId)
      if (!call) throw noCall(callId)
      const lines = await linesOf(readCallLines(folderOf(call.run), callId))
      return { call: toCallEntry(call), lines, children: (await childrenOf(call)).map(toCallEntry) }
    },

    async runs({ limit, from, to, before, ...rest }) {
      await indexer.flush()
      const filter = {
        ...rest,
        since: from,
        before: before === undefined || to === undefined ? (before ?? to) : Math.min(before, to),
      }
      const { items, next } = await pageOf((most) => index.runs({ ...filter, limit: most }), limit)
      return { runs: await Promise.all(items.map(describeRun)), ...(next !== undefined && { next }) }
    },

    async run(run) {
      const found = await findRun(run)
      const latest = await index.calls({ run, limit: MOST_CALLS_OF_RUN + 1 })
      const calls = latest.slice(0, MOST_CALLS_OF_RUN).toSorted(byStart).map(toCallEntry)
      return { run: await describeRun(found), calls, isTruncated: latest.length > MOST_CALLS_OF_RUN }
    },

    async lines(run, { after, limit }) {
      const lines: RecordLine[] = []
      if (limit <= 0) return lines
      for await (const event of readEvents(folderOf(run), { from: after + 1 })) {
        lines.push(showLine(event))
        if (lines.length >= Math.min(limit, MOST_LINES)) break
      }
      return lines
    },

    async export(run) {
      return exportRecord(folderOf(run))
    },

    changes: (run) => fileChanges(runsFolder, run, { hub, hideSecrets }),

    async undo(run, { by, ...wish }) {
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

    async remove(run, { by }) {
      const found = await findRun(run)
      await removeEndedRun(found.run, { hub, store, runsFolder, clock, by })
    },

    async verify({ run, only } = {}) {
      if (only === 'missing') return verifyRuns(runsFolder, store.heads, [])
      if (run === undefined) return verifyRuns(runsFolder, store.heads)
      const found = await findRun(run)
      return verifyRuns(runsFolder, store.heads, [found.run])
    },
  }

  async function describeRun(run: IndexedRun): Promise<RunEntry> {
    return toRunEntry(run, await store.sessions.find(run.run))
  }

  /** They began and ended while it was under way. */
  async function childrenOf({ callId, run, startedAt, durationMs }: IndexedCall): Promise<IndexedCall[]> {
    const before = durationMs === undefined ? {} : { before: Math.ceil(startedAt + durationMs) + 1 }
    const beside = await index.calls({ run, ...before, limit: MOST_CALLS_OF_RUN })
    return beside
      .filter(({ parent }) => parent === callId)
      .toSorted(byStart)
      .slice(0, MOST_CHILDREN)
  }
}

/** The record of a call in the index can have been removed since; what is known of it is shown all the same. */
async function linesOf(reading: ReturnType<typeof readCallLines>): Promise<RecordLine[]> {
  try {
    return (await reading).map(showLine)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'NOT_FOUND') return []
    throw error
  }
}

function byStart(a: IndexedCall, b: IndexedCall): number {
  return a.startedAt - b.startedAt || a.seq - b.seq
}

function noRun(run: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no run ${JSON.stringify(run.slice(0, 64))}.`, {
    hint: 'List the runs with GET /v1/runs or tool-hub runs.',
  })
}

function noCall(callId: string): ToolError {
  return new ToolError('NOT_FOUND', `There is no call ${JSON.stringify(callId.slice(0, 64))} on record.`, {
    hint: 'List the calls with GET /v1/calls.',
  })
}
