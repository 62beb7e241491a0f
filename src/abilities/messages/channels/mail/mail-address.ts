import { ToolError } from '../../../../errors.ts'

/** A mailbox, and the name that is shown with it. */
export interface Mailbox {
  readonly name: string
  readonly address: string
}

const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const DOMAIN = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`)
const LOCAL = /^[a-z0-9_+'=-]+(?:\.[a-z0-9_+'=-]+)*$/
const NAMED = /^([^<>"\p{Cc}]{1,100}?)\s*<([^<>\s]{1,320})>$/u

/** Whether a text is one plain address, in lower case: nothing that a header or an envelope could read in another way. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@')
  const [local, domain] = [text.slice(0, at), text.slice(at + 1)]
  return at > 0 && local.length <= 64 && domain.length <= 253 && LOCAL.test(local) && DOMAIN.test(domain)
}

/** Reads `hub@example.org` or `Tool Hub <hub@example.org>`, as an owner writes it. */
export function readMailbox(channel: string, key: string, text: string): Mailbox {
  const [, name = '', inBrackets] = NAMED.exec(text.trim()) ?? []
  const address = (inBrackets ?? text).trim().toLowerCase()
  if (isMailAddress(address)) return { name: name.trim(), address }
  throw new ToolError('CONFIG_INVALID', `${key} of the channel ${channel} is not a mail address.`, {
    hint: 'Write hub@example.org or Tool Hub <hub@example.org>.',
  })
}

/** Whether an address is one of those that an owner names: `anna@example.org`, `*@example.org`, `*@*.example.org`, `*`. */
export function admitsAddress(patterns: readonly string[], address: string): boolean {
  const at = address.lastIndexOf('@')
  const [local, domain] = [address.slice(0, at), address.slice(at + 1)]
  return patterns.some((pattern) => {
    const wanted = pattern.trim().toLowerCase()
    if (wanted === '*' || wanted === address) return true
    const from = wanted.lastIndexOf('@')
    const [wantedLocal, wantedDomain] = [wanted.slice(0, from), wanted.slice(from + 1)]
    if (from < 1 || (wantedLocal !== '*' && wantedLocal !== local)) return false
    return wantedDomain.startsWith('*.') ? domain.endsWith(wantedDomain.slice(1)) : wantedDomain === domain
  })
}
