import type { Approval, Question } from '../../api/types.ts'

/** A call that needs an approval, or a question from a tool: both wait for a person. */
export type HumanRequest = ({ readonly kind: 'approval' } & Approval) | ({ readonly kind: 'question' } & Question)

/** Approvals and questions in one list: pending ones by their deadline, past ones newest first. */
export function toRequests(
  approvals: readonly Approval[],
  questions: readonly Question[],
  isPast = false,
): HumanRequest[] {
  const requests: HumanRequest[] = [
    ...approvals.map((approval) => ({ kind: 'approval' as const, ...approval })),
    ...questions.map((question) => ({ kind: 'question' as const, ...question })),
  ]
  return requests.sort(isPast ? newestFirst : soonestFirst)
}

function newestFirst(a: HumanRequest, b: HumanRequest): number {
  return Date.parse(b.askedAt) - Date.parse(a.askedAt) || (a.id < b.id ? 1 : -1)
}

/** With the same deadline, the one that has waited longest is first, so that a new one never comes before it. */
function soonestFirst(a: HumanRequest, b: HumanRequest): number {
  return Date.parse(a.expiresAt) - Date.parse(b.expiresAt) || -newestFirst(a, b)
}

/** A call of a script that needs an approval. */
export type ScriptApproval = Extract<HumanRequest, { kind: 'approval' }> & {
  readonly script: NonNullable<Approval['script']>
}

/** An item of the list: one request, or all pending calls of one script. */
export type RequestItem =
  | { readonly kind: 'request'; readonly id: string; readonly request: HumanRequest }
  | { readonly kind: 'script'; readonly id: string; readonly requests: readonly ScriptApproval[] }

const SCRIPT_PREFIX = 'script-'

/** The requests as items; the calls of a script are one item, at the place of the first of them. */
export function toItems(requests: readonly HumanRequest[]): RequestItem[] {
  const scripts = new Map<string, ScriptApproval[]>()
  const items: RequestItem[] = []
  for (const request of requests) {
    if (!isOfScript(request)) {
      items.push({ kind: 'request', id: request.id, request })
      continue
    }
    const known = scripts.get(request.script.id)
    if (known) known.push(request)
    else {
      const own = [request]
      scripts.set(request.script.id, own)
      items.push({ kind: 'script', id: `${SCRIPT_PREFIX}${request.script.id}`, requests: own })
    }
  }
  return items
}

/** Whether a request is for a call of a script. */
export function isOfScript(request: HumanRequest): request is ScriptApproval {
  return request.kind === 'approval' && request.script !== undefined
}

/** The script of an item; undefined if the id is that of a request. */
export function scriptOfItem(id: string): string | undefined {
  return id.startsWith(SCRIPT_PREFIX) ? id.slice(SCRIPT_PREFIX.length) : undefined
}

/** The item with an id, or the one that contains the request with this id. */
export function findItem(items: readonly RequestItem[], id: string | undefined): RequestItem | undefined {
  return items.find((item) => item.id === id || (item.kind === 'script' && item.requests.some((one) => one.id === id)))
}

/** Where in its script a call is made. */
export function placeOf({ script }: Pick<ScriptApproval, 'script'>): string {
  return script.line === undefined ? `call ${script.seq}` : `line ${script.line}`
}

/** Everything that the decision is about, as text; without what changes while it waits, such as the history. */
export function subjectOf(request: Approval | Question): string {
  const { id, tool, caller } = request
  if ('question' in request) {
    const { question, context, options, form } = request
    return JSON.stringify([id, tool, caller, question, context, options, form])
  }
  const { input, views, targets, purpose, reason, rule, requests, labels, risks, coverage, script } = request
  const facts = [input, views, targets, purpose, reason, rule, requests, labels, risks, coverage, script]
  return JSON.stringify([id, tool, caller, ...facts])
}

/** A preview of one line. */
export function previewOf(request: HumanRequest): string {
  if (request.kind === 'question') return request.question
  const [view] = request.views
  if (view?.kind === 'command') return view.command
  if (view?.kind === 'diff') return view.path
  if (view?.kind === 'url') return view.url
  return request.targets[0] ?? request.purpose ?? request.reason
}

/** The address of a request; keeps the tab. */
export function requestPath(id: string | undefined, tab: string): string {
  const path = id === undefined ? '/approvals' : `/approvals/${encodeURIComponent(id)}`
  return tab === '' ? path : `${path}?tab=${tab}`
}

/** Splits a URL at its host and port; all of it is in `before` if it is not a URL. */
export function splitUrl(url: string): { before: string; host: string; after: string } {
  const whole = { before: url, host: '', after: '' }
  if (!URL.canParse(url)) return whole
  const { host } = new URL(url)
  // Text before an @ can look like a host: the host is after it.
  const authority = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?/i.exec(url)?.[0]
  if (authority === undefined || host === '') return whole
  const rest = url.slice(authority.length)
  if (!rest.toLowerCase().startsWith(host)) return whole
  return { before: authority, host: rest.slice(0, host.length), after: rest.slice(host.length) }
}
