import { type Clock, systemClock, ToolError } from '@tool-hub/core'
import { escapeJson, escapeLine, untilAborted } from '@tool-hub/core/lib'
import type { PolicySuggestions } from '@tool-hub/core/protocol'
import { type Hub, type SuggestReport, suggestFromRuns } from '@tool-hub/runtime/hub'

const MAX_MS = 60_000
const KEPT_MS = 30_000
const MAX_CALLS = 100

/** Options of `SuggestionSearch`. */
interface SuggestionSearchOptions {
  readonly hub: Pick<Hub, 'explain' | 'cards' | 'policyLayers'>
  readonly runsFolder: string
  readonly clock?: Clock
}

interface Search {
  /** Counts approvals of this time, in milliseconds; `undefined` for all. */
  readonly lastMs: number | undefined
  readonly stop: AbortController
  readonly found: Promise<PolicySuggestions>
  waiting: number
}

/**
 * Suggests rules from all records. They are read for one request at a time: equal ones share the result, which is kept for
 * 30 s or until the rules change, and others are refused meanwhile. Reading stops when nobody waits for it any more.
 */
export class SuggestionSearch {
  readonly #options: SuggestionSearchOptions
  readonly #clock: Clock
  #search: Search | undefined
  #kept: { readonly lastMs: number | undefined; readonly found: PolicySuggestions } | undefined

  constructor(options: SuggestionSearchOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
  }

  /** Forgets what was found, because the rules have changed. */
  clear(): void {
    this.#kept = undefined
    this.#search?.stop.abort(new ToolError('CONFLICT', 'The rules have changed meanwhile.', { hint: 'Ask again.' }))
  }

  async find({ lastMs, signal }: { lastMs?: number; signal: AbortSignal }): Promise<PolicySuggestions> {
    const kept = this.#kept?.lastMs === lastMs ? this.#kept?.found : undefined
    if (kept && this.#clock.now() - kept.at < KEPT_MS) return kept
    if (this.#search && (this.#search.lastMs !== lastMs || this.#search.stop.signal.aborted)) throw busy()
    this.#search ??= this.#start(lastMs)
    const search = this.#search
    search.waiting++
    try {
      return await untilAborted(search.found, signal)
    } finally {
      search.waiting--
      if (search.waiting === 0) search.stop.abort(signal.reason)
    }
  }

  #start(lastMs: number | undefined): Search {
    const stop = new AbortController()
    const at = this.#clock.now()
    const timer = setTimeout(() => stop.abort(tooLong()), MAX_MS)
    const { hub, runsFolder } = this.#options
    const since = lastMs === undefined ? undefined : at - lastMs
    const found = suggestFromRuns(hub, runsFolder, { since, signal: stop.signal })
      .then((report) => {
        stop.signal.throwIfAborted()
        const suggestions = show(report, at)
        this.#kept = { lastMs, found: suggestions }
        return suggestions
      })
      .finally(() => {
        clearTimeout(timer)
        this.#search = undefined
      })
    // Nobody may be waiting any more.
    found.catch(() => {})
    return { lastMs, stop, found, waiting: 0 }
  }
}

/** Values of calls may hold anything, so they are escaped; the rules still mean the same. */
function show({ rules, withheld, left, unreadable, ...counts }: SuggestReport, at: number): PolicySuggestions {
  return {
    ...counts,
    at,
    rules: rules.map(({ yaml, saves, calls, open }) => ({
      yaml: yaml.map(escapeJson),
      saves,
      calls: calls.slice(0, MAX_CALLS).map(({ run, callId }) => ({ run, callId })),
      open: open.map(escapeLine),
    })),
    withheld: withheld.map(escapeLine),
    left: [...left],
    unreadable: unreadable.map(({ run, reason }) => ({ run: escapeLine(run), reason: escapeLine(reason) })),
  }
}

function busy(): ToolError {
  return new ToolError('RATE_LIMITED', 'The records are being read for other suggestions.', {
    hint: 'Try again in a few seconds.',
  })
}

function tooLong(): ToolError {
  return new ToolError('TIMEOUT', `The records could not be read within ${MAX_MS / 1_000} s.`, {
    hint: 'Use tool-hub policy suggest, which takes the time it needs, or remove old runs with tool-hub runs prune.',
  })
}
