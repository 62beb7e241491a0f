import type {
  CallFilter,
  CallIndex,
  IndexBatch,
  IndexedCall,
  IndexedCaller,
  IndexedRun,
  RateSlice,
  RunFilter,
} from '../../store.ts'
import { compareIds } from '../rules/compare-ids.ts'
import {
  changeOf,
  changeRun,
  countsAsFailure,
  isDenial,
  isFailure,
  type KeptRun,
  mergeCall,
  progressOf,
  type RunChange,
} from '../rules/index-call.ts'
import { pageSize } from '../rules/page-size.ts'
import { foldText, foldWords } from '../rules/search-text.ts'
import { searchedText } from '../rules/searched-text.ts'
import { MOST_SLICES, sliceLength } from '../rules/slice-length.ts'
import { Recent } from './recent.ts'

/** The index over run records in memory: of the calls and runs that came last. */
export class MemoryCalls implements CallIndex {
  readonly #calls: Recent<IndexedCall>
  readonly #runs: Recent<KeptRun>

  readonly #tasksOf: (run: string) => readonly (string | undefined)[]

  constructor(max: number, tasksOf: (run: string) => readonly (string | undefined)[]) {
    this.#tasksOf = tasksOf
    this.#calls = new Recent(max)
    this.#runs = new Recent(max)
  }

  put({ calls, runs }: IndexBatch): void {
    for (const entry of calls) {
      const before = this.#calls.get(entry.callId)
      const call = before ? mergeCall(before, entry) : { ...entry }
      if (call === before) continue
      this.#calls.set(call.callId, call)
      this.#change(changeOf(call, before))
    }
    for (const progress of runs) this.#change(progressOf(progress))
  }

  position(run: string): number {
    return this.#runs.get(run)?.bytes ?? 0
  }

  run(id: string): IndexedRun | undefined {
    const run = this.#runs.get(id)
    return run && shown(run)
  }

  call(callId: string): IndexedCall | undefined {
    return this.#calls.get(callId)
  }

  runs({ caller, text, since, before, limit }: RunFilter): readonly IndexedRun[] {
    const [word] = foldWords([text ?? ''])
    return [...this.#runs.values()]
      .filter((run) => !caller || run.caller === caller || run.principal === caller)
      .filter((run) => since === undefined || run.endedAt >= since)
      .filter((run) => before === undefined || run.startedAt < before)
      .filter((run) => word === undefined || this.#says(run, word))
      .sort((a, b) => b.startedAt - a.startedAt || compareIds(b.run, a.run))
      .slice(0, pageSize(limit))
      .map(shown)
  }

  callers({ limit }: { limit: number }): readonly IndexedCaller[] {
    const found = new Map<string, IndexedCaller>()
    for (const run of [...this.#runs.values()].filter(({ calls }) => calls > 0)) {
      const caller = run.caller.startsWith('session:') ? '' : run.caller
      const key = JSON.stringify([caller, run.principal])
      const known = found.get(key) ?? { runs: 0, calls: 0, lastAt: 0 }
      found.set(key, {
        caller,
        ...(run.principal !== undefined && { principal: run.principal }),
        runs: known.runs + 1,
        calls: known.calls + run.calls,
        lastAt: Math.max(known.lastAt, run.endedAt),
      })
    }
    return [...found.values()]
      .sort((a, b) => b.lastAt - a.lastAt || compareIds(a.caller, b.caller))
      .slice(0, pageSize(limit))
  }

  calls(filter: CallFilter): readonly IndexedCall[] {
    const [text] = foldWords([filter.text ?? ''])
    return [...this.#calls.values()]
      .filter((call) => fits(call, filter) && (text === undefined || searchedText(call).includes(text)))
      .sort((a, b) => b.startedAt - a.startedAt || b.seq - a.seq || compareIds(b.callId, a.callId))
      .slice(0, pageSize(filter.limit))
  }

  rates({ since, sliceMs }: { since: number; sliceMs: number }): readonly RateSlice[] {
    const length = sliceLength(sliceMs)
    const slices = new Map<number, IndexedCall[]>()
    for (const call of this.#calls.values()) {
      if (call.startedAt < since) continue
      const at = Math.trunc(call.startedAt / length) * length
      const slice = slices.get(at)
      if (slice) slice.push(call)
      else slices.set(at, [call])
    }
    return [...slices]
      .sort(([a], [b]) => a - b)
      .slice(0, MOST_SLICES)
      .map(([at, calls]) => sliceOf(at, calls))
  }

  remove(run: string): void {
    for (const call of [...this.#calls.values()]) if (call.run === run) this.#calls.delete(call.callId)
    this.#runs.delete(run)
  }

  clear(): void {
    this.#calls.clear()
    this.#runs.clear()
  }

  #says({ run, caller }: KeptRun, word: string): boolean {
    if ([run, caller, ...this.#tasksOf(run)].some((text) => foldText(text ?? '').includes(word))) return true
    return [...this.#calls.values()].some((call) => call.run === run && searchedText(call).includes(word))
  }

  #change(change: RunChange): void {
    this.#runs.set(change.run, changeRun(this.#runs.get(change.run), change))
  }
}

function shown({ bytes: _, ...run }: KeptRun): IndexedRun {
  return run
}

function fits(call: IndexedCall, { run, tool, caller, status, before }: CallFilter): boolean {
  if (run !== undefined && call.run !== run) return false
  if (tool !== undefined && call.tool !== tool) return false
  if (caller !== undefined && call.caller !== caller) return false
  if (before !== undefined && call.startedAt >= before) return false
  if (status === undefined) return true
  return status === 'failed' ? isFailure(call.status) : call.status === status
}

function sliceOf(at: number, calls: readonly IndexedCall[]): RateSlice {
  const durations = calls.flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]))
  const total = durations.reduce((sum, ms) => sum + ms, 0)
  return {
    at,
    calls: calls.length,
    failures: calls.filter(({ status }) => countsAsFailure(status)).length,
    denials: calls.filter(({ status }) => isDenial(status)).length,
    meanMs: durations.length === 0 ? 0 : total / durations.length,
    maxMs: Math.max(0, ...durations),
  }
}
