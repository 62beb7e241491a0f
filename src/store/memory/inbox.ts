import type { EditedWords, InboxStore, StoredMessage } from '../../store-parts/inbox.ts'
import { compareIds } from '../rules/compare-ids.ts'
import { pageSize } from '../rules/page-size.ts'

/** Messages to the people at the console, in memory. */
export class MemoryInbox implements InboxStore {
  readonly #messages = new Map<string, StoredMessage>()

  add(message: StoredMessage, most: number): void {
    if (this.#messages.has(message.id)) return
    this.#messages.set(message.id, { ...message })
    for (const { id } of this.#newestFirst().slice(most)) this.#messages.delete(id)
  }

  edit(id: string, run: string, { level, title, text, isUntrusted }: EditedWords, at: number): boolean {
    const message = this.#messages.get(id)
    if (message?.run !== run) return false
    const { title: _, readAt: __, ...kept } = message
    const words = { level, ...(title !== undefined && { title }), text, isUntrusted: kept.isUntrusted || isUntrusted }
    this.#messages.set(id, { ...kept, ...words, editedAt: at })
    return true
  }

  list({ unread = false, before, limit }: { unread?: boolean; before?: string; limit: number }) {
    return this.#newestFirst()
      .filter(({ id, readAt }) => (before === undefined || id < before) && !(unread && readAt !== undefined))
      .slice(0, pageSize(limit))
  }

  countUnread(): number {
    return [...this.#messages.values()].filter(({ readAt }) => readAt === undefined).length
  }

  markRead(ids: readonly string[] = [...this.#messages.keys()], at: number): number {
    const unread = [...new Set(ids)].flatMap((id) => this.#messages.get(id) ?? []).filter(({ readAt }) => !readAt)
    for (const message of unread) this.#messages.set(message.id, { ...message, readAt: at })
    return unread.length
  }

  remove(id: string): boolean {
    return this.#messages.delete(id)
  }

  #newestFirst(): StoredMessage[] {
    return [...this.#messages.values()].sort((a, b) => compareIds(b.id, a.id))
  }
}
