import type { Awaitable, ToolResult } from '@tool-hub/core'
import type { Immutable } from '@tool-hub/core/lib'
import type { z } from 'zod'
import type {
  newSavedScript,
  savedScriptSchema,
  scriptCallSchema,
  scriptDetailSchema,
  scriptEntrySchema,
  scriptResultSchema,
} from './schema.ts'

/** Options of scripts. */
export interface CodeOptions {
  /** Whether agents may run scripts at all. Default: `true`. */
  readonly enabled?: boolean
  /** How many scripts run at the same time; one principal has at most half of them. Default: 8. */
  readonly workers?: number
  /** Longest time of a script in milliseconds, without waiting for people; a caller can choose less. Default: 60 s. */
  readonly timeoutMs?: number
  /** Longest time in which a script itself computes, in milliseconds. Default: 10 s. */
  readonly cpuMs?: number
  /** Memory of a script in bytes. Default: 64 MB. */
  readonly memoryBytes?: number
  /** Maximum number of calls of a script; a caller can choose less. Default: 256. */
  readonly maxCalls?: number
  /** How long a script waits for people before it is suspended, in milliseconds; not while others wait. Default: 20 s. */
  readonly suspendAfterMs?: number
}

/** A script to run. */
export interface ScriptRequest {
  /** JavaScript or TypeScript. */
  readonly code: string
  /** What the script reads as `input`. Default: `null`. */
  readonly input?: unknown
  /** Longest time in milliseconds, without waiting for people. Default and maximum: the owner's `timeoutMs`. */
  readonly timeoutMs?: number
  /** Maximum number of calls. Default and maximum: the owner's `maxCalls`. */
  readonly maxCalls?: number
}

/** How a call follows the script that it runs. */
export interface ScriptFollower {
  /** Called with each line that the script writes. */
  readonly onLog?: (line: string) => void
}

/** The state or the outcome of a script. */
export type ScriptResult = Immutable<z.infer<typeof scriptResultSchema>>

/** What became of one call of a script. */
export type ScriptCallEntry = Immutable<z.infer<typeof scriptCallSchema>>

/** A script that was suspended at some time, as lists show it. */
export type ScriptEntry = Immutable<z.infer<typeof scriptEntrySchema>>

/** A script with its source and its calls. */
export type ScriptDetail = Immutable<z.infer<typeof scriptDetailSchema>>

/** A script that the owner saved as the tool `script/<name>`. */
export type SavedScript = Immutable<z.infer<typeof savedScriptSchema>>

/** A script to save as a tool: a source, or the id of a completed script that was suspended before. */
export type NewSavedScript = Immutable<z.infer<typeof newSavedScript>>

/** Runs scripts for one call. */
export interface CodeHandle {
  /** Runs a script until it ends, or until it waits for people and is suspended. */
  run(request: ScriptRequest, follower?: ScriptFollower): Promise<ScriptResult>
  /** Continues a suspended script of this run when people have answered; returns its state after `timeoutMs` at the latest. */
  wait(script: string, options: ScriptFollower & { readonly timeoutMs: number }): Promise<ScriptResult>
  /** Ends a script of this run; what its calls have done stays. */
  cancel(script: string): Promise<ScriptResult>
  /** Runs the saved script whose tool is called. Throws CONFLICT if its source is not the one with this hash. */
  runSaved(
    saved: { readonly name: string; readonly sha256: string },
    input: unknown,
    follower?: ScriptFollower,
  ): Promise<ScriptResult>
}

/** Which scripts to list. */
export interface ScriptFilter {
  /** Only those of a run. */
  readonly run?: string
  /** Only those of a principal. */
  readonly principal?: string
  /** Only those in a state. */
  readonly status?: ScriptEntry['status']
  /** Only those created before, in milliseconds. */
  readonly before?: number
  /** Maximum number. Default: 100. */
  readonly limit?: number
}

/** Scripts, for the owner of a hub. */
export interface CodeService {
  /** Runs a script through the pipeline, as `core/code.run`. */
  run(request: ScriptRequest, options?: { readonly caller?: string; readonly run?: string }): Promise<ToolResult>
  /** Scripts that were suspended at some time, newest first. */
  list(filter?: ScriptFilter): Promise<readonly ScriptEntry[]>
  /** One of them with its source and its calls. */
  find(script: string): Promise<ScriptDetail | undefined>
  /** TypeScript declarations of the tools that scripts can call. */
  declarations(): Promise<string>
  /** Saves a script as the tool `script/<name>` of every hub with this store. Throws CONFLICT if the name is taken. */
  save(script: NewSavedScript, options: { readonly by: string }): Promise<SavedScript>
  /** The saved scripts, sorted by name. */
  saved(): Promise<readonly SavedScript[]>
  /**
   * Lists the tools of scripts that other processes save from now on, and no longer those that they remove, until the hub
   * is closed. The service does it. Without it, a call by name finds them, too.
   */
  followSaved(): Promise<void>
  /** Removes a saved script and its tool; calls under way continue. Throws NOT_FOUND if there is none. */
  removeSaved(name: string, options: { readonly by: string }): Promise<void>
}

/** A script as the store keeps it from when it is first suspended. */
export interface StoredScript {
  /** Id of the script: that of the call that started it. */
  readonly id: string
  /** Id of its run. */
  readonly run: string
  /** Who started it, as the caller says. */
  readonly caller: string
  /** The authenticated caller; absent for the owner of the hub. */
  readonly principal?: string
  /** SHA-256 of the source. */
  readonly sha256: string
  /** JavaScript or TypeScript. */
  readonly source: string
  /** The input, the limits and the clock of the script, as JSON. */
  readonly setup: string
  /** Its state. */
  readonly status: ScriptEntry['status']
  /** The requests that it waits for. */
  readonly approvals: readonly string[]
  /** What became of it, as JSON; absent before. */
  readonly outcome?: string
  /** The process that runs it; absent while it is suspended or has ended. */
  readonly owner?: string
  /** When it was started, in milliseconds. */
  readonly createdAt: number
  /** When its state last changed, in milliseconds. */
  readonly updatedAt: number
}

/** One call of a script that has ended, in the order of the ends. */
export interface LedgerLine {
  /** Which answer it is, from 1. */
  readonly position: number
  /** Which call of the script it is, from 1. */
  readonly seq: number
  /** Canonical name of the tool. */
  readonly tool: string
  /** SHA-256 of the arguments as canonical JSON. */
  readonly argsHash: string
  /** The line of the source that made it. */
  readonly line?: number
  /** Id of the call in the records. */
  readonly callId?: string
  /** How it ended. */
  readonly status: string
  /** Whether the answer holds content from outside. */
  readonly isUntrusted: boolean
  /** The answer as JSON, if it is short. */
  readonly answer?: string
  /** The artifact with the answer, if it is not. */
  readonly ref?: string
}

/** A change of the state of a script. */
export interface ScriptChange {
  /** Id of the script. */
  readonly id: string
  /** The process that must own it; `null` if none must. */
  readonly from: string | null
  /** The new state. */
  readonly status: ScriptEntry['status']
  /** The process that runs it from now on; `null` if none does. */
  readonly owner: string | null
  /** The requests that it waits for. */
  readonly approvals: readonly string[]
  /** What became of it, as JSON. */
  readonly outcome?: string
  /** Now, in milliseconds. */
  readonly at: number
}

/** Scripts that were suspended, and their calls. */
export interface ScriptStore {
  /** Adds a script with the calls that it has made. */
  add(script: StoredScript, lines: readonly LedgerLine[]): Awaitable<void>
  /** Adds a call that has ended; `false` if another process than `owner` owns the script. */
  append(script: string, line: LedgerLine, owner: string): Awaitable<boolean>
  /** Changes the state; `false` if another process owns the script. */
  change(change: ScriptChange): Awaitable<boolean>
  /** `undefined` if there is none. */
  find(id: string): Awaitable<StoredScript | undefined>
  /** Its calls, in the order in which they ended. */
  lines(id: string): Awaitable<readonly LedgerLine[]>
  /** Newest first. */
  list(filter: ScriptFilter): Awaitable<readonly StoredScript[]>
}

/** Scripts that the owner saved as tools. */
export interface SavedScriptStore {
  /** Adds a script; `false` if the name is taken. */
  add(script: SavedScript): Awaitable<boolean>
  /** `undefined` if there is none. */
  find(name: string): Awaitable<SavedScript | undefined>
  /** Sorted by name. */
  list(): Awaitable<readonly SavedScript[]>
  /** Whether there was one with this name. */
  remove(name: string): Awaitable<boolean>
}
