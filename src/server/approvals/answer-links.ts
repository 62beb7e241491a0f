import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** The request that a link answers. */
export interface AnswerLink {
  readonly request: string
  /** Which webhook it was sent to; see `hookId`. */
  readonly hook: string
  readonly expiresAt: number
}

const LINK = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{1,100})\.(\d{1,16})\.([A-Za-z0-9_-]{43})$/

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
export function readAnswerLink(
  link: string,
  secrets: ReadonlyMap<string, string>,
  now: number,
): AnswerLink | undefined {
  const parts = LINK.exec(link)
  if (!parts) return undefined
  const [, hook, request, expiresAt, signature] = parts as unknown as [string, string, string, string, string]
  const secret = secrets.get(hook)
  if (!secret) return undefined
  const wanted = Buffer.from(sign(`${hook}.${request}.${expiresAt}`, secret))
  if (!timingSafeEqual(wanted, Buffer.from(signature)) || Number(expiresAt) <= now) return undefined
  return { request, hook, expiresAt: Number(expiresAt) }
}

function sign(facts: string, secret: string): string {
  return createHmac('sha256', secret).update(`answer-link:${facts}`).digest('base64url')
}
