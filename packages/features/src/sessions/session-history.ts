import { type FeatureHost, type PastCall, ToolError } from '@tool-hub/core'
import { toMessage } from './describe-session.ts'
import type { StoredMail } from './store-types.ts'
import type { HistoryEntry, HistoryPage, HistoryWish } from './types.ts'

/** A position in the record of calls and in the messages. */
interface Place {
  readonly call: number
  readonly mail: number
}

const END: Place = { call: Number.MAX_SAFE_INTEGER, mail: Number.MAX_SAFE_INTEGER }
const LIMIT = 50
const MAX_ENTRIES = 200

/** Reads a page of the history of a session: its recorded calls and its messages, in order of time. */
export async function readHistory(
  host: Pick<FeatureHost, 'store' | 'pastCalls' | 'redact'>,
  session: string,
  { limit = LIMIT, before, after }: HistoryWish,
): Promise<HistoryPage> {
  if (before !== undefined && after !== undefined)
    throw new ToolError('INPUT_SCHEMA_INVALID', 'A part of a history is before or after a place, not both.')
  const most = Math.min(Math.max(1, Math.trunc(limit) || 1), MAX_ENTRIES)
  const page =
    after === undefined
      ? await readBack(host, session, before === undefined ? END : readPlace(before), most)
      : await readOn(host, session, readPlace(after), most)
  const entries = page.entries.map((item) => toEntry(item, (text) => host.redact(text)))
  return { session, entries, ...(page.earlier && { earlier: write(page.earlier) }), later: write(page.later) }
}

type Item = { readonly call: PastCall } | { readonly mail: StoredMail }
type Numbered = { readonly seq: number }
type Sources = Pick<FeatureHost, 'store' | 'pastCalls'>
interface Page {
  readonly entries: readonly Item[]
  readonly earlier?: Place
  readonly later: Place
}

/** The last entries before a position. Calls and messages each keep their own order, even if clocks differ. */
async function readBack(host: Sources, session: string, place: Place, most: number): Promise<Page> {
  const calls = [...(await host.pastCalls(session, { before: place.call, limit: most + 1 }))]
  const mails = [...(await host.store.mail.list({ session, before: place.mail, limit: most + 1 }))]
  const later =
    place === END
      ? { call: calls.at(-1)?.seq ?? 0, mail: mails.at(-1)?.seq ?? 0 }
      : { call: place.call - 1, mail: place.mail - 1 }
  const entries: Item[] = []
  while (entries.length < most && calls.length + mails.length > 0) {
    const isCall = mails.length === 0 || (calls.length > 0 && timeOf(calls.at(-1)!) >= mails.at(-1)!.sentAt)
    entries.push(isCall ? { call: calls.pop()! } : { mail: mails.pop()! })
  }
  if (calls.length + mails.length === 0) return { entries: entries.reverse(), later }
  const earlier = {
    call: placeBefore(
      calls,
      entries.flatMap((item) => ('call' in item ? [item.call] : [])),
      place.call,
    ),
    mail: placeBefore(
      mails,
      entries.flatMap((item) => ('mail' in item ? [item.mail] : [])),
      place.mail,
    ),
  }
  return { entries: entries.reverse(), earlier, later }
}

/** The position right after the last entry left for the next page, or before the first entry if none is left. */
function placeBefore(left: readonly Numbered[], taken: readonly Numbered[], place: number): number {
  if (left.length > 0) return left.at(-1)!.seq + 1
  return taken.at(-1)?.seq ?? (place === END.call ? 1 : place)
}

/** The first entries after a position. */
async function readOn(host: Sources, session: string, place: Place, most: number): Promise<Page> {
  const calls = [...(await host.pastCalls(session, { after: place.call, limit: most }))]
  const mails = [...(await host.store.mail.list({ session, after: place.mail, limit: most }))]
  const entries: Item[] = []
  const later = { ...place }
  while (entries.length < most && calls.length + mails.length > 0) {
    const isCall = mails.length === 0 || (calls.length > 0 && timeOf(calls[0]!) < mails[0]!.sentAt)
    if (isCall) {
      const call = calls.shift()!
      later.call = call.seq
      entries.push({ call })
    } else {
      const mail = mails.shift()!
      later.mail = mail.seq
      entries.push({ mail })
    }
  }
  return { entries, earlier: { call: place.call + 1, mail: place.mail + 1 }, later }
}

function toEntry(item: Item, redact: (text: string) => string): HistoryEntry {
  if ('mail' in item) {
    const message = toMessage(item.mail)
    return { type: 'message', at: message.sentAt, message: { ...message, text: redact(message.text) } }
  }
  const { time, callId, tool, status, summary, isUntrusted } = item.call
  return { type: 'call', at: time, callId, tool, status, summary: redact(summary), isUntrusted }
}

function timeOf({ time }: PastCall): number {
  const at = Date.parse(time)
  return Number.isNaN(at) ? 0 : at
}

function write({ call, mail }: Place): string {
  return `${call}.${mail}`
}

function readPlace(text: string): Place {
  const found = /^(\d{1,16})\.(\d{1,16})$/.exec(text)
  if (found) return { call: Number(found[1]), mail: Number(found[2]) }
  throw new ToolError('INPUT_SCHEMA_INVALID', 'before and after are places that an earlier page gave.', {
    hint: 'Leave them out for the newest part, then use its earlier and later.',
  })
}
