import type { MemoryProvider } from './memory-provider.ts'

/** Whom a note is for: this run, this session, this agent in all its runs, everybody. */
export const MEMORY_SCOPES = ['run', 'session', 'agent', 'shared'] as const

/** One of the scopes; policy matches it as a target of the capability `memory`. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number]

/** Where a note goes that an agent writes: nowhere, into the run's archive until a person has looked, into memory at once. */
export const MEMORY_WRITE_MODES = ['disabled', 'candidate', 'external'] as const

/** One of the modes. */
export type MemoryWriteMode = (typeof MEMORY_WRITE_MODES)[number]

/** What an owner says about memory. */
export interface MemoryOptions {
  /** `false` takes all tools of memory away; true unless said. */
  readonly enabled?: boolean
  /** `candidate` unless said. */
  readonly writeMode?: MemoryWriteMode
  /** Who keeps the notes; the hub's own store unless said. */
  readonly provider?: 'embedded' | HttpMemory | McpMemory | MemoryProvider
  /** Turns texts into vectors, so that notes are also found by meaning; for the embedded provider. */
  readonly embed?: EmbedTexts
  readonly limits?: MemoryLimits
}

/** Bounds; every one has a safe default. */
export interface MemoryLimits {
  /** Characters of one note; 20,000 unless said, which is also the most. */
  readonly noteChars?: number
  /** Notes of one scope; 100,000 unless said. */
  readonly notesPerScope?: number
  /** Notes of one run that may wait for review; 1,000 unless said. */
  readonly candidatesPerRun?: number
  /** Time for one answer of a provider or of `embed`; 10 s unless said. */
  readonly timeoutMs?: number
}

/** A service that speaks the protocol of docs/memory.md. */
export interface HttpMemory {
  /** Where it answers; `/recall`, `/write`, `/update` and `/forget` are below it. */
  readonly url: string
  /** Name of a secret, sent as `Authorization: Bearer …`. */
  readonly secret?: string
  /** Sent with every request; `${secret:name}` is filled in. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Tools of an MCP server of this hub that keep the notes. */
export interface McpMemory {
  readonly mcp: {
    /** Its name in `mcpServers`. */
    readonly server: string
    readonly recall: string | McpMemoryTool
    readonly write?: string | McpMemoryTool
    readonly update?: string | McpMemoryTool
    readonly forget?: string | McpMemoryTool
  }
}

/** A tool of a server whose arguments have other names. */
export interface McpMemoryTool {
  readonly tool: string
  /** Our names and theirs, `{ query: 'q', limit: 'top_k' }`; what is not named is not sent. All by our names unless said. */
  readonly arguments?: Readonly<Record<string, string>>
}

/** Gives one vector a text, all of one length. */
export type EmbedTexts = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly (readonly number[] | Float32Array)[]>

/** Where a note comes from. */
export interface NoteOrigin {
  readonly run?: string
  readonly session?: string
  readonly callId?: string
  readonly caller?: string
  readonly principal?: string
  /** Its run had read content from outside, or nobody knows. */
  readonly tainted: boolean
  /** A person has looked at it. */
  readonly reviewed: boolean
  readonly promotedBy?: string
  readonly importedBy?: string
  /** When it was written, in milliseconds since 1970. */
  readonly at: number
}

/** A note as its owner sees it. */
export interface MemoryNote {
  readonly id: string
  readonly scope: MemoryScope
  /** The scope with whose it is: `agent:token:ci`, `shared`. */
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly updatedAt: number
  readonly origin: NoteOrigin
}

/** A note that waits for review, or was reviewed, in the archive of its run. */
export interface MemoryCandidate {
  readonly id: string
  readonly run: string
  readonly scope: MemoryScope
  readonly key: string
  readonly content: string
  readonly tags: readonly string[]
  /** The note that it is to take the place of. */
  readonly replaces?: string
  readonly origin: NoteOrigin
  readonly state: 'waiting' | 'promoted' | 'rejected'
  /** Who decided, and when. */
  readonly review?: {
    readonly by: string
    readonly at: number
    readonly reason?: string
    /** Id of the note that it became. */
    readonly note?: string
  }
}

/** What is looked for. */
export interface MemoryQuery {
  readonly query: string
  /** All four unless said. */
  readonly scope?: MemoryScope
  /** 10 unless said, at most 50. */
  readonly limit?: number
  /** Only notes that have one of these. */
  readonly tags?: readonly string[]
}

/** A note that was found. */
export interface RecalledNote {
  readonly id: string
  readonly scope: MemoryScope
  readonly content: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly score: number
  /** It may hold somebody else's words, and nobody has looked at it. */
  readonly isUntrusted: boolean
}

/** What became of a note that was written. */
export interface WrittenNote {
  readonly id: string
  readonly scope: MemoryScope
  /** `candidate`: it waits for review, and nobody recalls it until then. */
  readonly state: 'candidate' | 'stored'
}

/** The handle of a tool that declares the capability. */
export interface MemoryHandle {
  /** Who is asked: `embedded`, or the name of the provider. */
  readonly provider: string
  recall(query: MemoryQuery): Promise<readonly RecalledNote[]>
  write(note: {
    readonly content: string
    readonly scope?: MemoryScope
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  update(change: {
    readonly id: string
    readonly scope: MemoryScope
    readonly content?: string
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  forget(note: { readonly id: string; readonly scope: MemoryScope }): Promise<void>
}

/** How a person changes a candidate on its way into memory. */
export interface Promotion {
  readonly by: string
  readonly scope?: MemoryScope
  readonly tags?: readonly string[]
  readonly content?: string
}

/** What an import did; `bad` are lines that could not be taken, by number. */
export interface MemoryImport {
  readonly imported: number
  /** Ids that were there already; they stay as they are. */
  readonly known: number
  readonly bad: readonly { readonly line: number; readonly why: string }[]
}

/** What the owner of a hub uses. */
export interface MemoryDesk {
  /** How memory is set. */
  status(): Promise<{ readonly enabled: boolean; readonly writeMode: MemoryWriteMode; readonly provider: string }>
  /** Notes that fit, best first; without a query the newest first, a page at a time. */
  search(filter?: {
    readonly query?: string
    readonly scope?: MemoryScope
    /** One scope of one run, session or agent: `agent:token:ci`. */
    readonly key?: string
    readonly tags?: readonly string[]
    /** The `next` of an earlier page. */
    readonly before?: number
    readonly limit?: number
  }): Promise<{ readonly notes: readonly MemoryNote[]; readonly next?: number }>
  find(id: string): Promise<MemoryNote | undefined>
  /** False when there is none. */
  forget(id: string, options: { readonly by: string }): Promise<boolean>
  /** What waits for review unless another state is named, newest first. */
  candidates(filter?: {
    readonly run?: string
    readonly state?: MemoryCandidate['state'] | 'all'
    readonly limit?: number
  }): Promise<readonly MemoryCandidate[]>
  /** Undefined when there is none. */
  candidate(id: string): Promise<MemoryCandidate | undefined>
  /** Makes a candidate a note, once, whoever else does so too; CONFLICT when it was decided before. Takes a note, too, that nobody has looked at. */
  promote(id: string, promotion: Promotion): Promise<MemoryNote>
  reject(id: string, options: { readonly by: string; readonly reason?: string }): Promise<MemoryCandidate>
  /** All notes, a JSON line each. */
  export(filter?: { readonly scope?: MemoryScope }): Promise<AsyncIterable<string>>
  /** Takes lines of `export`. What it brings counts as content from outside until somebody has looked, unless it is trusted. */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options: { readonly by: string; readonly trusted?: boolean },
  ): Promise<MemoryImport>
}
