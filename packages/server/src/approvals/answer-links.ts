import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookOptions } from '@tool-hub/config'
import { type Clock, type Store, type StoredApproval, ToolError } from '@tool-hub/core'
import type { Approval } from '@tool-hub/core/protocol'
import type { Hub } from '@tool-hub/runtime/hub'
import { approvalPage, plainPage, questionPage, readFields } from './answer-page.ts'
import { toApproval, toQuestion } from './approval-views.ts'

/** A page, with its HTTP status. */
export interface AnswerPage {
  readonly status: number
  readonly html: string
}

/** The pages behind the links of webhooks: only sending the form answers. */
export interface AnswerPages {
  show(link: string): Promise<AnswerPage>
  answer(link: string, form: URLSearchParams): Promise<AnswerPage>
}

interface AnswerPagesOptions {
  readonly hub: Pick<Hub, 'approvals' | 'questions' | 'artifact'>
  readonly store: Pick<Store, 'approvals'>
  readonly clock: Clock
  readonly hooks: readonly WebhookOptions[]
}

/** Serves the pages behind the links of webhooks; anybody with a link may answer that one request, once. */
export function createAnswerPages({ hub, store, clock, hooks }: AnswerPagesOptions): AnswerPages {
  const byId = new Map(hooks.map((hook) => [hookId(hook.url), hook]))
  const secrets = new Map(hooks.map(({ url, secret }) => [hookId(url), secret]))
  const pageOf = async (stored: StoredApproval) => {
    const now = clock.now()
    if (stored.kind !== 'approval') return questionPage(toQuestion(stored, now))
    const approval = toApproval(stored, now)
    return approvalPage(approval, await sourceOf(hub, approval))
  }
  const find = async (link: string) => {
    const known = readAnswerLink(link, secrets, clock.now())
    const hook = known && byId.get(known.hook)
    const stored = known && (await store.approvals.find(known.request))
    // The holder of the secret can make links, but only for the kinds of requests that it is sent.
    if (!hook || !stored || (hook.events && !hook.events.includes(stored.kind))) return undefined
    return { stored, by: `webhook:${new URL(hook.url).host}` }
  }
  return {
    async show(link) {
      const found = await find(link)
      return found ? { status: 200, html: await pageOf(found.stored) } : GONE
    },
    async answer(link, form) {
      const found = await find(link)
      if (!found) return GONE
      const { stored, by } = found
      try {
        const thanks = await (stored.kind === 'approval' ? decide(hub, stored, form, by) : reply(hub, stored, form, by))
        if (thanks) return { status: 200, html: plainPage('Thank you', thanks) }
        return { status: 409, html: await pageOf((await store.approvals.find(stored.id)) ?? stored) }
      } catch (error) {
        if (!ToolError.is(error) || error.code === 'INTERNAL') throw error
        if (error.code === 'RECORDS_UNAVAILABLE')
          return { status: 503, html: plainPage('Not answered', `${error.message} ${error.fix.hint}`) }
        return { status: 400, html: plainPage('That cannot be taken', `${error.message} ${error.fix.hint}`) }
      }
    },
  }
}

/** The source of the script that makes the call; `undefined` if there is none, or it cannot be read. */
async function sourceOf(hub: Queues, { run, script }: Approval): Promise<string | undefined> {
  if (script?.source === undefined) return undefined
  // The page says that it is missing.
  const bytes = await hub.artifact(script.source, { run }).catch(() => undefined)
  return bytes && Buffer.from(bytes).toString('utf8')
}

const GONE: AnswerPage = {
  status: 404,
  html: plainPage(
    'Nothing waits here',
    'The link is not valid, or it has expired. Open the console to see what waits.',
  ),
}

type Queues = AnswerPagesOptions['hub']

/** Returns the message for the first who answered; `undefined` if somebody else was faster. */
async function decide(
  hub: Queues,
  { id }: StoredApproval,
  form: URLSearchParams,
  by: string,
): Promise<string | undefined> {
  const decision = form.get('decision')
  if (decision !== 'allow' && decision !== 'deny') throw incomplete('The form says neither allow nor deny.')
  const reason = form.get('reason')?.slice(0, 2_000) || undefined
  const won = await hub.approvals.answer(id, { decision, by, via: 'webhook', reason })
  if (!won) return undefined
  return decision === 'allow' ? 'The call may happen, this once.' : 'The call was refused.'
}

async function reply(
  hub: Queues,
  stored: StoredApproval,
  form: URLSearchParams,
  by: string,
): Promise<string | undefined> {
  const won = await hub.questions.answer(stored.id, readReply(stored, form), { by, via: 'webhook' })
  return won ? 'The tool has your answer.' : undefined
}

function readReply(stored: StoredApproval, sent: URLSearchParams): string | Record<string, unknown> {
  const { form, options = [] } = toQuestion(stored, 0)
  if (form) return readFields(form, sent)
  const option = sent.get('option') ?? ''
  const answer = /^\d{1,6}$/.test(option) ? options[Number(option)] : sent.get('answer')?.slice(0, 20_000)
  if (!answer) throw incomplete('The form has no answer.')
  return answer
}

function incomplete(message: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint: 'Go back and choose or write one.' })
}

/** The request that a link answers. */
interface AnswerLink {
  readonly request: string
  /** Which webhook it was sent to; see `hookId`. */
  readonly hook: string
  readonly expiresAt: number
}

// Calls of scripts have a dot in their id; what follows the id has none.
const LINK = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_.-]{1,100})\.(\d{1,16})\.([A-Za-z0-9_-]{43})$/

/** Names a webhook by its URL: stays the same when the owner rewrites the list. */
export function hookId(url: string): string {
  return createHash('sha256').update(url).digest('base64url').slice(0, 16)
}

/**
 * The last part of a link that answers one request, signed with the secret of the webhook it is sent to: nothing has to be
 * stored, and the link is worthless once the request is answered.
 */
export function makeAnswerLink({ request, hook, expiresAt }: AnswerLink, secret: string): string {
  const facts = `${hook}.${request}.${expiresAt}`
  return `${facts}.${sign(facts, secret)}`
}

/** Reads a link; `undefined` if it is forged or has expired. `secrets` are by the id of their hook. */
function readAnswerLink(link: string, secrets: ReadonlyMap<string, string>, now: number): AnswerLink | undefined {
  const [, hook = '', request = '', expiresAt = '', signature = ''] = LINK.exec(link) ?? []
  const secret = secrets.get(hook)
  if (!secret) return undefined
  const wanted = Buffer.from(sign(`${hook}.${request}.${expiresAt}`, secret))
  if (!timingSafeEqual(wanted, Buffer.from(signature)) || Number(expiresAt) <= now) return undefined
  return { request, hook, expiresAt: Number(expiresAt) }
}

function sign(facts: string, secret: string): string {
  return createHmac('sha256', secret).update(`answer-link:${facts}`).digest('base64url')
}
