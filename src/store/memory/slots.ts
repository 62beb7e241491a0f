import type { SlotStore } from '../../store.ts'
import { assertRoom } from './assert-room.ts'

/** Slots in memory: every owner is this process, or a part of it. */
export class MemorySlots implements SlotStore {
  readonly #slots = new Map<string, { readonly owner: string; readonly until: number }>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  lease(slot: string, { owner, now, until }: { owner: string; now: number; until: number }): boolean {
    const held = this.#slots.get(slot)
    if (held && held.owner !== owner && held.until > now) return false
    if (!held) assertRoom(this.#slots, this.#max, 'slots')
    this.#slots.set(slot, { owner, until })
    return true
  }

  release(slot: string, owner: string): void {
    if (this.#slots.get(slot)?.owner === owner) this.#slots.delete(slot)
  }

  sweep(now: number): void {
    for (const [slot, { until }] of this.#slots) if (until <= now) this.#slots.delete(slot)
  }
}
