import type { Awaitable, Store } from '../../store.ts'
import type { Connection } from './connection.ts'

/** The parts of a store with something that a person or a caller relies on once it was acknowledged. */
type DurablePart =
  | 'keys'
  | 'asks'
  | 'grants'
  | 'tokens'
  | 'signIns'
  | 'jobs'
  | 'memory'
  | 'sessions'
  | 'mail'
  | 'heads'
  | 'canvases'
  | 'schedules'
  | 'inbox'

/**
 * What is on the disk itself before anybody is told that it is done: a loss of power takes none of it back. A key that
 * is claimed, an answer that is used and a time that is fired are so before their effect, which must not happen twice.
 * All else is synced within a second: budgets, rates, the index, events, leases, when a token was used last.
 */
const DURABLE: { readonly [Part in DurablePart]: readonly (keyof Store[Part])[] } = {
  keys: ['claim', 'finish'],
  asks: ['file', 'answer', 'adopt', 'use'],
  grants: ['put', 'remove'],
  tokens: ['add', 'remove'],
  signIns: ['add', 'remove', 'removeOf'],
  jobs: ['add'],
  memory: ['add', 'replace', 'remove', 'removeScope'],
  sessions: ['add', 'end', 'reopen', 'taint'],
  mail: ['put'],
  heads: ['put', 'remove'],
  canvases: ['add', 'addVersion', 'hide'],
  schedules: ['add', 'save', 'remove', 'fire', 'addRun', 'begin', 'end', 'takeOver'],
  inbox: ['add', 'edit', 'markRead', 'remove'],
}

/** The same part of a store, whose durable methods resolve only once what they wrote survives a loss of power. */
export function durable<Part extends DurablePart>(connection: Connection, name: Part, part: Store[Part]): Store[Part] {
  const methods = DURABLE[name].map((method) => {
    const write = part[method] as (...values: unknown[]) => unknown
    const writeDurably = (...values: unknown[]): Awaitable<unknown> => {
      const outcome = write(...values)
      const syncing = connection.synced()
      if (!syncing) return outcome
      connection.generation.request()
      return syncing.then(() => outcome)
    }
    return [method, writeDurably]
  })
  return { ...part, ...Object.fromEntries(methods) }
}
