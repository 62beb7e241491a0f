import type { GrantStore, StoredGrant } from '../../store.ts'
import { compareIds } from '../rules/compare-ids.ts'
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
      .sort((a, b) => a.createdAt - b.createdAt || compareIds(a.id, b.id))
  }

  remove(id: string): boolean {
    return this.#grants.delete(id)
  }

  sweep(now: number): void {
    for (const [id, { expiresAt }] of this.#grants)
      if (expiresAt !== undefined && expiresAt <= now) this.#grants.delete(id)
  }
}
