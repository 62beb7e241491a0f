import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** What a link lets somebody answer. */
export interface AnswerLink {
  readonly ask: string
  /** Which webhook it was sent to; see `hookId`. */
  readonly hook: string
  readonly expiresAt: number
}

const LINK = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{1,100})\.(\d{1,16})\.([A-Za-z0-9_-]{43})$/

/** Names a webhook by where it goes: the same after the owner wrote the list anew. */
export function hookId(url: string): string {
  return createHash('sha256').update(url).digest('base64url').slice(0, 16)
}

/**
 * The last part of a link that answers one ask, made with the secret of the webhook it is sent to: nothing has to be kept,
 * and it is worth nothing once the ask is answered.
 */
export function makeAnswerLink({ ask, hook, expiresAt }: AnswerLink, secret: string): string {
  const facts = `${hook}.${ask}.${expiresAt}`
  return `${facts}.${sign(facts, secret)}`
}

/** What a link is about; nothing for one that we did not make, or that is too old. `secrets` are by the id of their hook. */
export function readAnswerLink(
  link: string,
  secrets: ReadonlyMap<string, string>,
  now: number,
): AnswerLink | undefined {
  const parts = LINK.exec(link)
  if (!parts) return undefined
  const [, hook, ask, expiresAt, signature] = parts as unknown as [string, string, string, string, string]
  const secret = secrets.get(hook)
  if (!secret) return undefined
  const wanted = Buffer.from(sign(`${hook}.${ask}.${expiresAt}`, secret))
  if (!timingSafeEqual(wanted, Buffer.from(signature)) || Number(expiresAt) <= now) return undefined
  return { ask, hook, expiresAt: Number(expiresAt) }
}

function sign(facts: string, secret: string): string {
  return createHmac('sha256', secret).update(`answer-link:${facts}`).digest('base64url')
}
