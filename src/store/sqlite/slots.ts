import type { SlotStore } from '../../store.ts'
import type { Connection } from './connection.ts'

/** Slots in the file. */
export function createSlots(connection: Connection): SlotStore {
  const lease = connection.statement(
    `INSERT INTO slots (slot, owner, leased_until) VALUES (?, ?, ?)
     ON CONFLICT (slot) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until
     WHERE slots.owner = excluded.owner OR slots.leased_until <= ?`,
  )
  const release = connection.statement('DELETE FROM slots WHERE slot = ? AND owner = ?')
  return {
    lease: (slot, { owner, now, until }) => lease.run(slot, owner, until, now) === 1,
    release(slot, owner) {
      release.run(slot, owner)
    },
  }
}
