import {
  type MailFilter,
  type MailStore,
  type MailWish,
  type NewMail,
  SESSION_AGE_MS,
  type StoredMail,
} from '../../store-parts/sessions.ts'
import { pageSize } from '../rules/page-size.ts'
import { assertRoom } from './assert-room.ts'

/** What sessions write to each other, in memory, oldest first; what was read makes room. */
export class MemoryMail implements MailStore {
  readonly #mail = new Map<number, StoredMail>()
  readonly #max: number
  #seq = 0

  constructor(max: number) {
    this.#max = max
  }

  put(message: NewMail, { mostUnread }: { readonly mostUnread: number }): number | undefined {
    if (this.unread(message.inbox) >= mostUnread) return undefined
    if (this.#mail.size >= this.#max) this.#makeRoom()
    const seq = ++this.#seq
    this.#mail.set(seq, { ...message, seq })
    return seq
  }

  take(inbox: string, { limit, now, answerTo }: MailWish): readonly StoredMail[] {
    const taken: StoredMail[] = []
    for (const mail of this.#mail.values()) {
      if (taken.length >= pageSize(limit)) break
      if (mail.inbox !== inbox || mail.readAt !== undefined || (answerTo && !isAnswer(mail, answerTo))) continue
      const read = { ...mail, readAt: now }
      this.#mail.set(mail.seq, read)
      taken.push(read)
    }
    return taken
  }

  unread(inbox: string): number {
    let unread = 0
    for (const mail of this.#mail.values()) if (mail.inbox === inbox && mail.readAt === undefined) unread++
    return unread
  }

  list({ session, before = Number.POSITIVE_INFINITY, after, limit }: MailFilter): readonly StoredMail[] {
    const all = [...this.#mail.values()].filter(({ inbox, sender }) => inbox === session || sender === session)
    const most = pageSize(limit)
    if (after !== undefined) return all.filter(({ seq }) => seq > after).slice(0, most)
    const earlier = all.filter(({ seq }) => seq < before)
    return earlier.slice(Math.max(0, earlier.length - most))
  }

  sweep(now: number): void {
    for (const [seq, { sentAt }] of this.#mail) if (sentAt < now - SESSION_AGE_MS) this.#mail.delete(seq)
  }

  #makeRoom(): void {
    for (const [seq, { readAt }] of this.#mail) {
      if (readAt === undefined) continue
      this.#mail.delete(seq)
      return
    }
    assertRoom(this.#mail, this.#max, 'messages that wait')
  }
}

function isAnswer({ sender, seq, replyTo }: StoredMail, asked: NonNullable<MailWish['answerTo']>): boolean {
  return sender === asked.from && seq > asked.seq && (replyTo === undefined || replyTo === asked.id)
}
