import type { ProviderUse } from './provider.ts'
import type { MemoryNote, NoteOrigin } from './types.ts'

/** What a backend may use of the call or the person that needs it. */
export interface BackendUse extends ProviderUse {
  notice(text: string): void
  /** What is told of a failure holds words of a stranger. */
  heardOutside(): void
  /** Puts on record what was connected to. */
  connected(url: string, outcome: string): void
}

/** A note that a backend found. */
export interface BackendNote {
  readonly id: string
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly score: number
  readonly isUntrusted: boolean
}

/** What is looked for, and where. */
export interface BackendQuery {
  readonly query: string
  readonly keys: readonly string[]
  readonly limit: number
  readonly tags: readonly string[]
}

/** A note on its way to where it is kept. */
export interface BackendWrite {
  readonly id: string
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  readonly origin: NoteOrigin
}

/** Where notes are kept: the store of the hub, or a provider. */
export interface Backend {
  readonly name: string
  recall(query: BackendQuery, use: BackendUse): Promise<readonly BackendNote[]>
  /** Once for one id, also when it is asked again after a failure. Gives back the id under which it is known. */
  write(note: BackendWrite, use: BackendUse): Promise<string>
  /** False when there is no such note under this key. */
  update(
    change: Omit<BackendWrite, 'content' | 'tags'> & Partial<Pick<BackendWrite, 'content' | 'tags'>>,
    use: BackendUse,
  ): Promise<boolean>
  forget(note: { readonly id: string; readonly key: string }, use: BackendUse): Promise<boolean>
  /** Of the backend that can be asked at any time: the hub's own store. */
  readonly own?: {
    find(id: string): Promise<MemoryNote | undefined>
  }
}
