import type { GrantStore, StoredGrant } from '../../store.ts'
import { assertRoom } from './assert-room.ts'

/** Remembered answers in memory. */
export class MemoryGrants implements GrantStore {
  readonly #grants = new Map<string, StoredGrant>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  put(grant: StoredGrant): void {
    if (!this.#grants.has(grant.id)) assertRoom(this.#grants, this.#max, 'grants')
    this.#grants.set(grant.id, { ...grant })
  }

  list({ tool }: { tool?: string } = {}): readonly StoredGrant[] {
    return [...this.#grants.values()]
      .filter((grant) => tool === undefined || grant.tool === tool)
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  }

  remove(id: string): boolean {
    return this.#grants.delete(id)
  }

  sweep(now: number): void {
    for (const [id, { expiresAt }] of this.#grants)
      if (expiresAt !== undefined && expiresAt <= now) this.#grants.delete(id)
  }
}
