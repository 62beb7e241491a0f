import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type { MemoryProvider } from './providers/provider.ts'
import type { memoryCandidate, memoryNote, noteOriginEntry } from './schema.ts'

/** The scopes of notes: this run, this session, this agent in all its runs, all agents. */
export const MEMORY_SCOPES = ['run', 'session', 'agent', 'shared'] as const

/** One of the scopes; policy matches it as a target of the capability `memory`. */
export type MemoryScope = (typeof MEMORY_SCOPES)[number]

/** What happens to a note that an agent writes: it is refused, waits in the archive of its run for review, or is stored immediately. */
export const MEMORY_WRITE_MODES = ['disabled', 'candidate', 'external'] as const

/** One of the modes. */
export type MemoryWriteMode = (typeof MEMORY_WRITE_MODES)[number]

/** The owner's options for memory. */
export interface MemoryOptions {
  /** `false` turns off all memory tools. Default: `true`. */
  readonly enabled?: boolean
  /** What happens to a note that an agent writes. Default: `candidate`. */
  readonly writeMode?: MemoryWriteMode
  /** Where notes are stored. Default: `embedded`, the store of the hub. */
  readonly provider?: 'embedded' | HttpMemory | McpMemory | MemoryProvider
  /** Turns texts into vectors, so that notes are also found by meaning. Only for the embedded provider. */
  readonly embed?: EmbedTexts
  /** Limits on notes and on response times. */
  readonly limits?: MemoryLimits
}

/** Limits; each has a safe default. */
export interface MemoryLimits {
  /** Maximum characters of a note. Default: 20,000, which is also the maximum. */
  readonly noteChars?: number
  /** Maximum notes in one scope. Default: 100,000. */
  readonly notesPerScope?: number
  /** Maximum notes of one run that wait for review. Default: 1,000. */
  readonly candidatesPerRun?: number
  /** Timeout for one request to a provider, or one call of `embed`. Default: 10 s. */
  readonly timeoutMs?: number
}

/** A service that speaks the protocol of docs/reference/memory.md. */
export interface HttpMemory {
  /** Base URL; `/recall`, `/write`, `/update` and `/forget` are below it. */
  readonly url: string
  /** Name of a secret, sent as `Authorization: Bearer …`. */
  readonly secret?: string
  /** Sent with every request; `${secret:name}` is replaced with the secret. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An MCP server of this hub whose tools store the notes. */
export interface McpMemory {
  /** The server, and its tool for each operation. */
  readonly mcp: {
    /** Its name in `mcpServers`. */
    readonly server: string
    /** The tool that finds notes: query, scopes, limit, tags. */
    readonly recall: string | McpMemoryTool
    /** The tool that stores a note: id, scope, content, tags. Default: notes cannot be written. */
    readonly write?: string | McpMemoryTool
    /** The tool that changes a note: id, scope, content, tags. Default: notes cannot be changed. */
    readonly update?: string | McpMemoryTool
    /** The tool that deletes a note: id, scope. Default: notes cannot be forgotten. */
    readonly forget?: string | McpMemoryTool
  }
}

/** A tool whose arguments have other names. */
export interface McpMemoryTool {
  /** Name of the tool on the server. */
  readonly tool: string
  /** Maps our argument names to the tool's, `{ query: 'q', limit: 'top_k' }`; others are not sent. Default: all, with our names. */
  readonly arguments?: Readonly<Record<string, string>>
}

/** Returns one vector for each text, all of the same length. */
export type EmbedTexts = (
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<readonly (readonly number[] | Float32Array)[]>

/** Where a note comes from. */
export type NoteOrigin = Immutable<z.infer<typeof noteOriginEntry>>

/** A note as the owner of the hub sees it. */
export type MemoryNote = Immutable<z.infer<typeof memoryNote>>

/** A note that waits for review, or was reviewed, in the archive of its run. */
export type MemoryCandidate = Immutable<z.infer<typeof memoryCandidate>>

/** A search for notes. */
export interface MemoryQuery {
  /** Words to search for; with `embed`, notes are also found by meaning. */
  readonly query: string
  /** Only notes of this scope. Default: all four scopes. */
  readonly scope?: MemoryScope
  /** Maximum number of notes. Default: 10; at most 50. */
  readonly limit?: number
  /** Only notes with one of these tags. Default: all. */
  readonly tags?: readonly string[]
}

/** A note that was found. */
export interface RecalledNote {
  /** Unique id, to update or forget it. */
  readonly id: string
  /** Who can recall it. */
  readonly scope: MemoryScope
  /** The text of the note. */
  readonly content: string
  /** Words to filter by; may be empty. */
  readonly tags: readonly string[]
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Relevance: higher is better; comparable only within one result. */
  readonly score: number
  /** It may contain untrusted content, and nobody has reviewed it. */
  readonly isUntrusted: boolean
}

/** The outcome of a write or an update. */
export interface WrittenNote {
  /** Id of the note, or of the candidate. */
  readonly id: string
  /** Who can recall it. */
  readonly scope: MemoryScope
  /** `candidate`: it waits for review and is not recalled before. */
  readonly state: 'candidate' | 'stored'
}

/** `ctx.memory` of tools with the capability `memory`. */
export interface MemoryHandle {
  /** `embedded`, or the name of the provider. */
  readonly provider: string
  /** Matching notes of the scopes that the call may read, best first. */
  recall(query: MemoryQuery): Promise<readonly RecalledNote[]>
  /** Writes a note: into memory or among the candidates, depending on the owner's write mode. */
  write(note: {
    /** The text; at most `limits.noteChars` characters. */
    readonly content: string
    /** Who can recall it. Default: `agent`. */
    readonly scope?: MemoryScope
    /** Words to filter by. Default: none. */
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  /** Changes a note; absent properties stay as they are. Throws `NOT_FOUND` if there is none. */
  update(change: {
    /** Id of the note. */
    readonly id: string
    /** The scope that it was recalled from. */
    readonly scope: MemoryScope
    /** The new text. Default: unchanged. */
    readonly content?: string
    /** The new tags. Default: unchanged. */
    readonly tags?: readonly string[]
  }): Promise<WrittenNote>
  /** Removes a note; throws `NOT_FOUND` if there is none. */
  forget(note: { readonly id: string; readonly scope: MemoryScope }): Promise<void>
}

/** How a person promotes a candidate, and what they change. */
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

/** The outcome of an import. */
export interface MemoryImport {
  /** Number of notes added. */
  readonly imported: number
  /** Number of notes whose ids exist already; the existing notes stay as they are. */
  readonly known: number
  /** Lines that are not valid notes, by 1-based number. */
  readonly bad: readonly { readonly line: number; readonly why: string }[]
}

/** `hub.memory`, for the owner of the hub. */
export interface MemoryService {
  /** The settings of memory. */
  status(): Promise<{ readonly enabled: boolean; readonly writeMode: MemoryWriteMode; readonly provider: string }>
  /** Matching notes, best first; without a query, all notes in pages, newest first. */
  search(filter?: {
    /** Words to search for. Default: all notes, newest first. */
    readonly query?: string
    /** Only notes of this scope, of all runs, sessions and agents. Default: all. */
    readonly scope?: MemoryScope
    /** Only notes of one run, session or agent: `agent:token:ci`. Default: all. */
    readonly key?: string
    /** Only notes with one of these tags. Default: all. */
    readonly tags?: readonly string[]
    /** `next` of the previous page. */
    readonly before?: number
    /** Maximum notes of a page. Default: 100; at most 500. */
    readonly limit?: number
  }): Promise<{ readonly notes: readonly MemoryNote[]; readonly next?: number }>
  /** A note by its id; `undefined` if there is none. */
  find(id: string): Promise<MemoryNote | undefined>
  /** Removes a note; `false` if there is none. */
  forget(id: string, options: { readonly by: string }): Promise<boolean>
  /** Candidates, newest first. */
  candidates(filter?: {
    /** Only those of this run. Default: all. */
    readonly run?: string
    /** Only those in this state. Default: `waiting`. */
    readonly state?: MemoryCandidate['state'] | 'all'
    /** Maximum number of candidates. Default: 100. */
    readonly limit?: number
  }): Promise<readonly MemoryCandidate[]>
  /** A candidate by its id; `undefined` if there is none. */
  candidate(id: string): Promise<MemoryCandidate | undefined>
  /** Makes a candidate a note, or marks an imported note as reviewed. Throws `CONFLICT` if the candidate was decided before. */
  promote(id: string, promotion: Promotion): Promise<MemoryNote>
  /** Rejects a candidate; throws `CONFLICT` if it was decided before. */
  reject(id: string, options: { readonly by: string; readonly reason?: string }): Promise<MemoryCandidate>
  /** All notes, one line of JSON each. */
  export(filter?: { readonly scope?: MemoryScope }): Promise<AsyncIterable<string>>
  /** Imports lines of `export`. Unless `trusted`, the notes count as untrusted content until a person promotes them. */
  import(
    lines: AsyncIterable<string> | Iterable<string>,
    options: { readonly by: string; readonly trusted?: boolean },
  ): Promise<MemoryImport>
}
