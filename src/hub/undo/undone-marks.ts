import type { RecordedChange, RunHistory } from '../../records/undo/read-history.ts'

/** Which changes were taken back, by undos that were not taken back themselves. */
export class UndoneMarks {
  /** Who took a change back. */
  readonly #by = new Map<string, string[]>()
  readonly #changesOf = new Map<string, string[]>()

  /** Takes up the record of a run. */
  add({ changes, undone }: RunHistory): void {
    for (const change of changes) append(this.#changesOf, change.callId, keyOf(change))
    for (const { by, ...change } of undone) append(this.#by, keyOf(change), by)
  }

  /** `except` are calls that are about to be undone: what they took back is no longer so. */
  isUndone(change: Pick<RecordedChange, 'run' | 'seq'>, except: ReadonlySet<string> = new Set()): boolean {
    return this.#isUndone(keyOf(change), except)
  }

  #isUndone(key: string, except: ReadonlySet<string>): boolean {
    return (this.#by.get(key) ?? []).some((by) => !except.has(by) && this.#holds(by, except))
  }

  /** An undo of which a part was undone counts as undone: then only the files tell how things are. */
  #holds(by: string, except: ReadonlySet<string>): boolean {
    // No undo undoes itself, but a record can have been tampered with.
    const above = new Set(except).add(by)
    return !(this.#changesOf.get(by) ?? []).some((key) => this.#isUndone(key, above))
  }
}

function keyOf({ run, seq }: Pick<RecordedChange, 'run' | 'seq'>): string {
  return `${run} ${seq}`
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const present = map.get(key)
  if (present) present.push(value)
  else map.set(key, [value])
}
