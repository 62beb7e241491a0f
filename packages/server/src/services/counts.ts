import type { IncomingMessage, ServerResponse } from 'node:http'
import { family, histogram, type Sample } from '@tool-hub/core/lib'
import type { RecordedLine } from '@tool-hub/runtime/records/log'

const BOUNDS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
const OTHER = 'other'
const MAX_RULES = 500

/** One request that is not answered yet. */
interface OpenRequest {
  readonly since: number
  /** As in the table of routes, so that ids in paths make no series of their own. */
  route: string
}

interface Counted {
  readonly labels: { readonly method: string; readonly route: string }
  readonly statuses: Map<string, number>
  readonly counts: number[]
  sum: number
}

/** Counts the requests of the HTTP API and how long they took, by the routes of the table. */
export class RequestCounts {
  readonly #open = new WeakMap<ServerResponse, OpenRequest>()
  readonly #counted = new Map<string, Counted>()

  /** Counts a request when its answer ends. */
  begin({ method = OTHER }: IncomingMessage, response: ServerResponse): void {
    const open: OpenRequest = { since: performance.now(), route: OTHER }
    this.#open.set(response, open)
    response.once('close', () => {
      // Without an answer, the caller has left.
      const status = response.headersSent ? String(response.statusCode) : 'none'
      this.#end(METHODS.has(method) ? method : OTHER, open, status)
    })
  }

  /** Says which route answers; other requests, such as files of the console, are counted together. */
  name(response: ServerResponse, route: string): void {
    const open = this.#open.get(response)
    if (open) open.route = route
  }

  /** The metrics in the text format of Prometheus. */
  text(): string {
    const all = [...this.#counted.values()]
    const totals = all.flatMap(({ labels, statuses }) =>
      [...statuses].map(([status, value]) => ({ labels: { ...labels, status }, value })),
    )
    const name = 'tool_hub_http_request_duration_seconds'
    return [
      family('counter', 'tool_hub_http_requests_total', 'Requests, by method, route and status.', totals),
      histogram(name, 'Duration of requests until their answer ended, waiting included.', BOUNDS_S, all),
    ].join('')
  }

  #end(method: string, { since, route }: OpenRequest, status: string): void {
    const key = `${method} ${route}`
    let counted = this.#counted.get(key)
    if (!counted) {
      const counts = Array.from({ length: BOUNDS_S.length + 1 }, () => 0)
      counted = { labels: { method, route }, statuses: new Map(), counts, sum: 0 }
      this.#counted.set(key, counted)
    }
    const seconds = (performance.now() - since) / 1_000
    const bucket = BOUNDS_S.findIndex((bound) => seconds <= bound)
    counted.counts[bucket === -1 ? BOUNDS_S.length : bucket]!++
    counted.sum += seconds
    counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1)
  }
}

/** Counts decisions by rule; further rules are counted together. */
export class DecisionCounts {
  readonly #counts = new Map<string, { readonly rule: string; readonly effect: string; count: number }>()

  readonly note = ({ event }: RecordedLine): void => {
    if (event.type !== 'call-started' && event.type !== 'call-ended') return
    const { rule, effect } = event
    // The end of a call that has started does not repeat the decision.
    if (rule === undefined || effect === undefined) return
    const known = this.#counts.has(`${effect} ${rule}`) || this.#counts.size < MAX_RULES ? rule : 'other'
    const key = `${effect} ${known}`
    const entry = this.#counts.get(key) ?? { rule: known, effect, count: 0 }
    entry.count++
    this.#counts.set(key, entry)
  }

  values(): Sample[] {
    return [...this.#counts.values()].map(({ rule, effect, count }) => ({
      labels: { rule, decision: effect },
      value: count,
    }))
  }
}
