import type { Approval, Question } from '../../api/types.ts'

/** A call that waits for a yes, or a question of a tool: both wait for a person, in one inbox. */
export type Ask = ({ readonly kind: 'approval' } & Approval) | ({ readonly kind: 'question' } & Question)

/** Both in one list: what waits by what expires first, what is over by what was asked last. */
export function toAsks(approvals: readonly Approval[], questions: readonly Question[], isPast = false): Ask[] {
  const asks: Ask[] = [
    ...approvals.map((approval) => ({ kind: 'approval' as const, ...approval })),
    ...questions.map((question) => ({ kind: 'question' as const, ...question })),
  ]
  return asks.sort(isPast ? newestFirst : soonestFirst)
}

function newestFirst(a: Ask, b: Ask): number {
  return Date.parse(b.askedAt) - Date.parse(a.askedAt) || (a.id < b.id ? 1 : -1)
}

/** Of those that expire together the one that has waited longest is first: a new one never comes before it. */
function soonestFirst(a: Ask, b: Ask): number {
  return Date.parse(a.expiresAt) - Date.parse(b.expiresAt) || -newestFirst(a, b)
}

/** Everything that somebody decides on, as text; not what changes while it waits, such as the calls around it. */
export function subjectOf(ask: Approval | Question): string {
  const { id, tool, caller } = ask
  if ('question' in ask) {
    const { question, context, options, form } = ask
    return JSON.stringify([id, tool, caller, question, context, options, form])
  }
  const { input, views, targets, purpose, reason, rule, requests, labels, risks, coverage } = ask
  const facts = [input, views, targets, purpose, reason, rule, requests, labels, risks, coverage]
  return JSON.stringify([id, tool, caller, ...facts])
}

/** What it is about, in a line. */
export function previewOf(ask: Ask): string {
  if (ask.kind === 'question') return ask.question
  const [view] = ask.views
  if (view?.kind === 'command') return view.command
  if (view?.kind === 'diff') return view.path
  if (view?.kind === 'url') return view.url
  return ask.targets[0] ?? ask.purpose ?? ask.reason
}

/** Where the inbox shows it; the tab stays the one that it is chosen from. */
export function pathOf(id: string | undefined, tab: string): string {
  const path = id === undefined ? '/approvals' : `/approvals/${encodeURIComponent(id)}`
  return tab === '' ? path : `${path}?tab=${tab}`
}
