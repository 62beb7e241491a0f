import type { Approval, Question } from '../../api/types.ts'

/** A call that waits for a yes, or a question of a tool: both wait for a person, in one inbox. */
export type Ask = ({ readonly kind: 'approval' } & Approval) | ({ readonly kind: 'question' } & Question)

/** Both in one list, newest first. */
export function toAsks(approvals: readonly Approval[], questions: readonly Question[]): Ask[] {
  const asks: Ask[] = [
    ...approvals.map((approval) => ({ kind: 'approval' as const, ...approval })),
    ...questions.map((question) => ({ kind: 'question' as const, ...question })),
  ]
  return asks.sort((a, b) => Date.parse(b.askedAt) - Date.parse(a.askedAt) || (a.id < b.id ? 1 : -1))
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

/** The one to go to when this one is done: the next in the list, or the one before at its end. */
export function neighbourOf(asks: readonly Ask[], id: string): string | undefined {
  const index = asks.findIndex((ask) => ask.id === id)
  if (index === -1) return asks[0]?.id
  return (asks[index + 1] ?? asks[index - 1])?.id
}

/** The one so many steps away, within the list. */
export function stepFrom(asks: readonly Ask[], id: string | undefined, by: number): string | undefined {
  const index = asks.findIndex((ask) => ask.id === id)
  if (index === -1) return asks[0]?.id
  return asks[Math.max(0, Math.min(asks.length - 1, index + by))]?.id
}
