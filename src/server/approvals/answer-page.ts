import { createHash } from 'node:crypto'
import type { Approval, Question } from '../../protocol/index.ts'
import { showFields, htmlText as text } from './answer-fields.ts'

const STYLE = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{max-width:46rem;margin:0 auto;padding:1.5rem 1rem}
h1{font-size:1.35rem;margin:0 0 1rem;overflow-wrap:anywhere}
dt{font-size:.8rem;opacity:.75;margin-top:.75rem}
dd{margin:0;overflow-wrap:anywhere}
pre{overflow:auto;padding:.75rem;border:1px solid color-mix(in srgb,currentColor 25%,transparent);border-radius:.4rem;font-size:.85rem;max-height:24rem;white-space:pre-wrap;overflow-wrap:anywhere}
form{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
form>label,fieldset{flex:1 1 100%;display:grid;gap:.25rem;min-width:0}
input[type=text],select{flex:1 1 100%;font:inherit;padding:.6rem;min-width:0}
button{font:inherit;font-weight:600;padding:.7rem 1.4rem;border-radius:.4rem;border:1px solid currentColor;cursor:pointer;background:transparent;color:inherit;overflow-wrap:anywhere}
button.yes{background:#1a6b3c;border-color:#1a6b3c;color:#fff}`

/** A page may load and do nothing but its own style sheet and its form. */
export const ANSWER_PAGE_CSP = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`

/**
 * The page behind a link in a webhook: works without scripts, on any phone. It shows everything that was stored of the
 * call, however long; if only the ends of its arguments were stored, the reason says so.
 */
export function approvalPage(approval: Approval): string {
  const { tool, caller, purpose, targets, reason, rule, input, views, labels, history, requests, expiresAt } = approval
  const { risks = [] } = approval
  return page(`May ${caller} call ${tool}?`, [
    facts([
      ['Asked by', caller],
      ['Why, as the caller says', purpose],
      ['Risks', risks.join('\n') || undefined],
      ['Targets', targets.join('\n') || undefined],
      ['Rule', rule],
      ['Reason', reason],
      ['Skills ask for', requests.join('\n') || undefined],
      ['Labels', labels.join(', ') || undefined],
      ['Before', history.map(pastCall).join('\n') || undefined],
      ['Waits until', expiresAt],
    ]),
    ...views.map(viewOf),
    `<p>Arguments</p>${block(JSON.stringify(input, undefined, 2) ?? 'none')}`,
    approval.state === 'waiting'
      ? `<form method="post"><input type="text" name="reason" maxlength="2000" placeholder="Reason (the agent reads it)" aria-label="Reason">
<button class="yes" name="decision" value="allow">Allow once</button><button name="decision" value="deny">Deny</button></form>`
      : `<p>${text(stateOf(approval))}</p>`,
  ])
}

/** The same for a question. */
export function questionPage(question: Question): string {
  const { tool, caller, context, defaultAnswer, expiresAt } = question
  return page(question.question, [
    facts([
      ['Asked by', `${caller}, through ${tool}`],
      ['Context', context],
      ['Without an answer', defaultAnswer],
      ['Waits until', expiresAt],
    ]),
    question.state === 'waiting' ? questionForm(question) : `<p>${text(stateOf(question))}</p>`,
  ])
}

/** A page with one message. */
export function plainPage(title: string, message: string): string {
  return page(title, [`<p>${text(message)}</p>`])
}

function page(title: string, parts: readonly string[]): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex"><title>${text(title)}</title><style>${STYLE}</style></head><body><main><h1>${lines(title)}</h1>${parts.join('\n')}</main></body></html>`
}

/** Options come back by number, so that the answer is one that was offered. */
function questionForm({ options = [], form }: Question): string {
  if (form) return `<form method="post">${showFields(form)}<button class="yes">Send</button></form>`
  const choices = options.map((option, index) => `<button name="option" value="${index}">${text(option)}</button>`)
  const offered = choices.length === 0 ? '' : `<form method="post">${choices.join('')}</form>`
  return `${offered}<form method="post"><input type="text" name="answer" required maxlength="20000" aria-label="Answer"><button class="yes">Send</button></form>`
}

function facts(entries: readonly (readonly [string, string | undefined])[]): string {
  const shown = entries.flatMap(([name, value]) =>
    value === undefined ? [] : [`<dt>${text(name)}</dt><dd>${lines(value)}</dd>`],
  )
  return `<dl>${shown.join('')}</dl>`
}

function viewOf(view: Approval['views'][number]): string {
  if (view.kind === 'diff') return `<p>${text(view.path)}${view.isNew ? ' (new)' : ''}</p>${block(view.diff)}`
  if (view.kind === 'url')
    return facts([
      ['URL', view.url],
      ['Addresses', view.problem ?? view.addresses.join(', ')],
    ])
  const parts = view.parts.map((part) => `${part.decides ? '▶' : ' '} ${part.effect}  ${part.text}  (${part.rule})`)
  const where = view.cwd === undefined ? 'Command' : `Command in ${view.cwd}`
  const notes = (view.notes ?? []).map((note) => `<p>${text(note)}</p>`).join('')
  return `<p>${text(where)}</p>${block(`${view.command}\n\n${parts.join('\n')}`)}${notes}`
}

function pastCall({ tool, status, summary }: Approval['history'][number]): string {
  return summary === undefined ? `${tool}: ${status}` : `${tool}: ${status}, ${summary}`
}

function stateOf({ state, answered }: Approval | Question): string {
  if (answered) return `${answered.by} has answered already${answered.decision ? `: ${answered.decision}` : ''}.`
  return state === 'expired' ? 'Nobody answered in time.' : 'The call is no longer waiting.'
}

/** Browsers drop a line break directly after the tag: this one, so that the first one of the text stays. */
function block(value: string): string {
  return `<pre>\n${text(value)}</pre>`
}

function lines(value: string): string {
  return value.split('\n').map(text).join('<br>')
}
