import type { MemoryProvider } from './providers/provider.ts'

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
  /** Bounds on notes and on the time for one answer. */
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

/** A service that speaks the protocol of docs/reference/memory.md. */
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
  /** Which server, and which of its tools do what. */
  readonly mcp: {
    /** Its name in `mcpServers`. */
    readonly server: string
    /** The tool that finds notes: query, scopes, limit, tags. */
    readonly recall: string | McpMemoryTool
    /** The tool that keeps a note: id, scope, content, tags. Default: notes cannot be written. */
    readonly write?: string | McpMemoryTool
    /** The tool that changes a note: id, scope, content, tags. Default: notes cannot be changed. */
    readonly update?: string | McpMemoryTool
    /** The tool that takes a note away: id, scope. Default: notes cannot be forgotten. */
    readonly forget?: string | McpMemoryTool
  }
}

/** A tool of a server whose arguments have other names. */
export interface McpMemoryTool {
  /** Name of the tool, as the server itself calls it. */
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
  /** Run of the call that wrote it; absent for an import. */
  readonly run?: string
  /** Session of that call, where it had one. */
  readonly session?: string
  /** Id of that call, by which the records have it. */
  readonly callId?: string
  /** Who called, as the caller said. */
  readonly caller?: string
  /** Who called for certain, where an authenticator found that out. */
  readonly principal?: string
  /** Its run had read content from outside, or nobody knows. */
  readonly tainted: boolean
  /** A person has looked at it. */
  readonly reviewed: boolean
  /** Who promoted it from the candidates. */
  readonly promotedBy?: string
  /** Who imported it. */
  readonly importedBy?: string
  /** When it was written, in milliseconds since 1970. */
  readonly at: number
}

/** A note as its owner sees it. */
export interface MemoryNote {
  /** Find, forget or promote it by this id. */
  readonly id: string
  /** Whom it is for. */
  readonly scope: MemoryScope
  /** The scope with whose it is: `agent:token:ci`, `shared`. */
  readonly key: string
  /** The text, without secrets. */
  readonly content: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970; `createdAt` if it was never changed. */
  readonly updatedAt: number
  /** Who wrote it, in which call, and whether a person has reviewed it. */
  readonly origin: NoteOrigin
}

/** A note that waits for review, or was reviewed, in the archive of its run. */
export interface MemoryCandidate {
  /** Promote or reject it by this id. */
  readonly id: string
  /** The run whose archive it is in. */
  readonly run: string
  /** Whom it would be for. */
  readonly scope: MemoryScope
  /** The scope with whose it is. */
  readonly key: string
  /** The text, without secrets. */
  readonly content: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** The note that it is to take the place of. */
  readonly replaces?: string
  /** Who wrote it, in which call, and whether it may hold content from outside. */
  readonly origin: NoteOrigin
  /** What a person decided; only what is `promoted` is recalled. */
  readonly state: 'waiting' | 'promoted' | 'rejected'
  /** Who decided, and when. */
  readonly review?: {
    /** Who decided. */
    readonly by: string
    /** When, in milliseconds since 1970. */
    readonly at: number
    /** Why it was rejected, where the person said so. */
    readonly reason?: string
    /** Id of the note that it became. */
    readonly note?: string
  }
}

/** What is looked for. */
export interface MemoryQuery {
  /** Words to look for; with `embed` also by meaning. */
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
  /** Update or forget it by this id. */
  readonly id: string
  /** Whom it is for. */
  readonly scope: MemoryScope
  /** The text of the note. */
  readonly content: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** How well it fits: higher is better, comparable within one answer only. */
  readonly score: number
  /** It may hold somebody else's words, and nobody has looked at it. */
  readonly isUntrusted: boolean
}

/** What became of a note that was written. */
export interface WrittenNote {
  /** Id of the note, or of the candidate. */
  readonly id: string
  /** Whom it is for. */
  readonly scope: MemoryScope
  /** `candidate`: it waits for review, and nobody recalls it until then. */
  readonly state: 'candidate' | 'stored'
}

/** The handle of a tool that declares the capability. */
export interface MemoryHandle {
  /** Who is asked: `embedded`, or the name of the provider. */
  readonly provider: string
  /** Notes that fit, best first, from the scopes that the call may read. */
  recall(query: MemoryQuery): Promise<readonly RecalledNote[]>
  /** Writes a note, as the owner's write mode says: into memory, or among the candidates. */
  write(note: {
    /** The text; at most `limits.noteChars`. */
    readonly content: string
    /** Whom it is for. Default: `agent`. */
    readonly scope?: MemoryScope
    /** Words to filter by. Default: none. */
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  /** Changes a note; what is absent stays. Throws `NOT_FOUND` if there is none. */
  update(change: {
    /** Id of the note. */
    readonly id: string
    /** The scope that it was recalled from. */
    readonly scope: MemoryScope
    /** The new text. Default: it stays. */
    readonly content?: string
    /** The new tags. Default: they stay. */
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  /** Removes a note; throws `NOT_FOUND` if there is none. */
  forget(note: { readonly id: string; readonly scope: MemoryScope }): Promise<void>
}

/** How a person changes a candidate on its way into memory. */
export interface Promotion {
  /** Who decides; recorded. */
  readonly by: string
  /** Another scope than the agent chose. Default: the candidate's. */
  readonly scope?: MemoryScope
  /** Other tags. Default: the candidate's. */
  readonly tags?: readonly string[]
  /** Another text. Default: the candidate's. */
  readonly content?: string
}

/** What an import did; `bad` are lines that could not be taken, by number. */
export interface MemoryImport {
  /** Notes that are new. */
  readonly imported: number
  /** Ids that were there already; they stay as they are. */
  readonly known: number
  /** Lines that are not notes, by 1-based number. */
  readonly bad: readonly { readonly line: number; readonly why: string }[]
}

/** What the owner of a hub uses. */
export interface MemoryService {
  /** How memory is set. */
  status(): Promise<{ readonly enabled: boolean; readonly writeMode: MemoryWriteMode; readonly provider: string }>
  /** Notes that fit, best first; without a query the newest first, a page at a time. */
  search(filter?: {
    /** Words to look for. Default: all notes, newest first. */
    readonly query?: string
    /** Only notes of this scope, whosever they are. Default: all. */
    readonly scope?: MemoryScope
    /** One scope of one run, session or agent: `agent:token:ci`. */
    readonly key?: string
    /** Only notes that have one of these. Default: all. */
    readonly tags?: readonly string[]
    /** The `next` of an earlier page. */
    readonly before?: number
    /** Most notes of the page. Default: 100; at most 500. */
    readonly limit?: number
  }): Promise<{ readonly notes: readonly MemoryNote[]; readonly next?: number }>
  /** A note by its id; `undefined` if there is none. */
  find(id: string): Promise<MemoryNote | undefined>
  /** False when there is none. */
  forget(id: string, options: { readonly by: string }): Promise<boolean>
  /** What waits for review unless another state is named, newest first. */
  candidates(filter?: {
    /** Only those of this run. Default: all. */
    readonly run?: string
    /** Only those in this state. Default: `waiting`. */
    readonly state?: MemoryCandidate['state'] | 'all'
    /** Most candidates. Default: 100. */
    readonly limit?: number
  }): Promise<readonly MemoryCandidate[]>
  /** Undefined when there is none. */
  candidate(id: string): Promise<MemoryCandidate | undefined>
  /** Makes a candidate a note, once, whoever else does so too; CONFLICT when it was decided before. Takes a note, too, that nobody has looked at. */
  promote(id: string, promotion: Promotion): Promise<MemoryNote>
  /** Decides that a candidate does not become a note; throws `CONFLICT` if it was decided before. */
  reject(id: string, options: { readonly by: string; readonly reason?: string }): Promise<MemoryCandidate>
  /** All notes, a JSON line each. */
  export(filter?: { readonly scope?: MemoryScope }): Promise<AsyncIterable<string>>
  /** Takes lines of `export`. What it brings counts as content from outside until somebody has looked, unless it is trusted. */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options: { readonly by: string; readonly trusted?: boolean },
  ): Promise<MemoryImport>
}
