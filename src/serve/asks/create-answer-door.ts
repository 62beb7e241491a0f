import type { Clock } from '../../clock.ts'
import type { WebhookOptions } from '../../config/to-service.ts'
import { ToolError } from '../../errors.ts'
import type { Hub } from '../../hub.ts'
import type { Ask, Store } from '../../store.ts'
import { readFields } from './answer-fields.ts'
import { hookId, readAnswerLink } from './answer-links.ts'
import { approvalPage, plainPage, questionPage } from './answer-page.ts'
import { toApproval, toQuestion } from './to-view.ts'

/** A page, with its HTTP status. */
export interface AnswerPage {
  readonly status: number
  readonly html: string
}

/** Where the links of webhooks lead: looking changes nothing, only sending the form answers. */
export interface AnswerDoor {
  show(link: string): Promise<AnswerPage>
  answer(link: string, form: URLSearchParams): Promise<AnswerPage>
}

/** What the door works with. */
export interface AnswerDoorOptions {
  readonly hub: Pick<Hub, 'approvals' | 'questions'>
  readonly store: Pick<Store, 'asks'>
  readonly clock: Clock
  readonly hooks: readonly WebhookOptions[]
}

/** Opens the pages of the webhooks' links; whoever has a link may answer that one ask, once. */
export function createAnswerDoor({ hub, store, clock, hooks }: AnswerDoorOptions): AnswerDoor {
  const byId = new Map(hooks.map((hook) => [hookId(hook.url), hook]))
  const secrets = new Map(hooks.map(({ url, secret }) => [hookId(url), secret]))
  const pageOf = (ask: Ask) => {
    const now = clock.now()
    return ask.kind === 'approval' ? approvalPage(toApproval(ask, now)) : questionPage(toQuestion(ask, now))
  }
  const find = async (link: string) => {
    const known = readAnswerLink(link, secrets, clock.now())
    const hook = known && byId.get(known.hook)
    const ask = known && (await store.asks.find(known.ask))
    // Whoever has the secret can make links: for what it is sent, not for the rest.
    if (!hook || !ask || (hook.events && !hook.events.includes(ask.kind))) return undefined
    return { ask, by: `webhook:${new URL(hook.url).host}` }
  }
  return {
    async show(link) {
      const found = await find(link)
      return found ? { status: 200, html: pageOf(found.ask) } : GONE
    },
    async answer(link, form) {
      const found = await find(link)
      if (!found) return GONE
      const { ask, by } = found
      try {
        const thanks = await (ask.kind === 'approval' ? decide(hub, ask, form, by) : reply(hub, ask, form, by))
        if (thanks) return { status: 200, html: plainPage('Thank you', thanks) }
        return { status: 409, html: pageOf((await store.asks.find(ask.id)) ?? ask) }
      } catch (error) {
        if (!ToolError.is(error) || error.code === 'INTERNAL') throw error
        if (error.code === 'RECORDS_UNAVAILABLE')
          return { status: 503, html: plainPage('Not answered', `${error.message} ${error.fix.hint}`) }
        return { status: 400, html: plainPage('That cannot be taken', `${error.message} ${error.fix.hint}`) }
      }
    },
  }
}

const GONE: AnswerPage = {
  status: 404,
  html: plainPage(
    'Nothing waits here',
    'The link is not one of ours, or it is too old. Open the console to see what waits.',
  ),
}

type People = AnswerDoorOptions['hub']

/** What to tell whoever was the first to answer; nothing when somebody else was. */
async function decide(hub: People, { id }: Ask, form: URLSearchParams, by: string): Promise<string | undefined> {
  const decision = form.get('decision')
  if (decision !== 'allow' && decision !== 'deny') throw incomplete('The form says neither allow nor deny.')
  const reason = form.get('reason')?.slice(0, 2_000)
  const won = await hub.approvals.answer(id, { decision, by, via: 'webhook', ...(reason && { reason }) })
  if (!won) return undefined
  return decision === 'allow' ? 'The call may happen, this once.' : 'The call was refused.'
}

async function reply(hub: People, ask: Ask, form: URLSearchParams, by: string): Promise<string | undefined> {
  const won = await hub.questions.answer(ask.id, readReply(ask, form), { by, via: 'webhook' })
  return won ? 'The tool has your answer.' : undefined
}

function readReply(ask: Ask, sent: URLSearchParams): string | Record<string, unknown> {
  const { form, options = [] } = toQuestion(ask, 0)
  if (form) return readFields(form, sent)
  const option = sent.get('option') ?? ''
  const answer = /^\d{1,6}$/.test(option) ? options[Number(option)] : sent.get('answer')?.slice(0, 20_000)
  if (!answer) throw incomplete('The form has no answer.')
  return answer
}

function incomplete(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Go back and choose or write one.' })
}
