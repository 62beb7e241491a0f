import type { BudgetLimits } from '../options.ts'
import type { ToolResult } from '../result.ts'
import type { Rule, SourcedRule } from '../rule.ts'
import type { SessionState } from '../store-parts/sessions.ts'
import type { ProgramFence } from './commands.ts'

/** What an agent may call a session that it begins. */
export const SESSION_LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$/
/** Names by which sessions address their owner and the session that began them. */
export const RESERVED_SESSION_NAMES: readonly string[] = ['owner', 'parent']

/** What an owner says about sessions. */
export type SessionsOptions = {
  /** Who works in sessions that agents begin, by name; none unless said, and then no agent begins one. */
  readonly runners?: Readonly<Record<string, Runner>>
  /** `tree`: an agent sees what it began and what it came from; `principal`: also all others of the same principal. */
  readonly visibility?: 'tree' | 'principal'
  /** How many sessions may lie above one; 5 unless said, 10 at most. */
  readonly maxDepth?: number
  /** How many sessions of one root go on at once; 16 unless said, 256 at most. */
  readonly maxRunning?: number
}

/** What one session may use in all, beside what those above it may. */
export type SessionLimits = Pick<BudgetLimits, 'calls' | 'wallMs' | 'cost'>

/** Who works in a session. */
export type Runner = CommandRunner | UrlRunner | CallbackRunner

interface RunnerCommon {
  /** What it is good for; agents read it. */
  readonly description?: string
  /** The only tools that its sessions see, of those that whoever began them sees: names, `group:…`. */
  readonly tools?: readonly string[]
  /** Further rules for its sessions; they allow nothing that whoever begins one may not. */
  readonly policy?: readonly (Rule | SourcedRule)[]
  /** What each of its sessions may use, unless whoever begins it says less. */
  readonly limits?: SessionLimits
  /** How long one of its sessions may last; an hour unless said. */
  readonly timeoutMs?: number
}

/** A program: it gets the task, and works on it until it ends. */
export interface CommandRunner extends RunnerCommon {
  readonly type: 'command'
  readonly argv: readonly string[]
  readonly cwd?: string
  /** Its whole environment beside PATH, HOME and the like; `${env:X}` and `${secret:x}` are filled in. */
  readonly env?: Readonly<Record<string, string>>
  /** Fences it in like a command; not unless said. */
  readonly sandbox?: boolean | ProgramFence
  /** `text`: the task on its input, the result on its output; `jsonl`: a message a line, with calls of tools. */
  readonly speaks?: 'text' | 'jsonl'
  /** What it says counts as content from outside unless you trust it. */
  readonly trust?: boolean
}

/** A service that is asked turn by turn. */
export interface UrlRunner extends RunnerCommon {
  readonly type: 'url'
  readonly url: string
  /** Signs what is sent, as Standard Webhooks do. */
  readonly secret?: string
  /** How long one turn may take; 2 minutes unless said. */
  readonly turnTimeoutMs?: number
  /** How many turns a session may have; 100 unless said. */
  readonly maxTurns?: number
  /** What it says counts as content from outside unless you trust it. */
  readonly trust?: boolean
}

/** Code of the owner's own. */
export interface CallbackRunner extends RunnerCommon {
  readonly type?: 'callback'
  /** Works on the task; what it gives back is the result. */
  readonly run: (session: SessionWork) => Promise<string> | string
}

/** A session as the code that works in it has it. */
export interface SessionWork {
  /** Also the run of its calls. */
  readonly id: string
  readonly label?: string
  readonly task: string
  /** What it may call, in the form that model providers want. */
  readonly tools: readonly WireTool[]
  /** Calls a tool with the rights of this session. */
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>
  /** What is written to it, as it comes; ends with the session. */
  messages(): AsyncIterable<SessionMessage>
  /** Writes to the session that began it. */
  say(text: string, options?: { readonly replyTo?: string }): Promise<void>
  /** Aborts when the session is ended. */
  readonly signal: AbortSignal
}

/** A tool as a model provider wants it. */
export interface WireTool {
  readonly name: string
  readonly description: string
  readonly parameters: Record<string, unknown>
}

/** Something that one session wrote to another. */
export interface SessionMessage {
  readonly id: string
  /** The session that wrote it; `owner` for the owner of the hub. */
  readonly from: string
  readonly to: string
  readonly text: string
  readonly replyTo?: string
  /** It comes from somebody who has read content from outside. */
  readonly isUntrusted: boolean
  /** ISO time. */
  readonly sentAt: string
}

/** A session in a list. */
export interface SessionBrief {
  readonly id: string
  readonly label?: string
  readonly parent?: string
  /** Absent for a run that somebody works in who came by another way. */
  readonly runner?: string
  readonly state: SessionState
  readonly createdAt: string
  readonly endedAt?: string
}

/** All that is known of a session. */
export interface SessionEntry extends SessionBrief {
  readonly root: string
  readonly principal?: string
  readonly task?: string
  /** Why it is over, where that is not plain. */
  readonly reason?: string
  readonly result?: string
  /** It has read content from outside. */
  readonly isTainted: boolean
}

/** Sessions, newest first. */
export interface SessionPage<S = SessionBrief> {
  readonly sessions: readonly S[]
  /** `before` of the next page; absent when there is none. */
  readonly next?: string
}

/** Which sessions. */
export interface SessionListing {
  readonly state?: SessionState
  /** `next` of an earlier page. */
  readonly before?: string
  readonly limit?: number
}

/** One thing that happened in a session. */
export type HistoryEntry =
  | {
      readonly type: 'call'
      readonly at: string
      readonly callId: string
      readonly tool: string
      readonly status: string
      readonly summary: string
      readonly isUntrusted: boolean
    }
  | { readonly type: 'message'; readonly at: string; readonly message: SessionMessage }

/** A part of what happened in a session, oldest first. */
export interface HistoryPage {
  readonly session: string
  readonly entries: readonly HistoryEntry[]
  /** `before` of the page of what came earlier; absent at the beginning. */
  readonly earlier?: string
  /** `after` of what comes later. */
  readonly later: string
}

/** Which part of a history: the newest unless said. */
export interface HistoryWish {
  readonly limit?: number
  readonly before?: string
  readonly after?: string
}

/** A message that is to be sent. */
export interface SendWish {
  readonly text: string
  readonly replyTo?: string
  /** How long to wait for an answer; not at all unless said. */
  readonly waitMs?: number
}

/** What became of a message. It is kept whatever the status says. */
export interface SendOutcome {
  readonly message: string
  /** The session that gets it. */
  readonly session: string
  /** `ended`: the session was over before it answered. */
  readonly status: 'sent' | 'replied' | 'timeout' | 'ended'
  readonly reply?: SessionMessage
  readonly state: SessionState
  readonly reason?: string
}

/** A session that is to begin. */
export interface SpawnWish {
  readonly task: string
  readonly label?: string
  /** The one named `default` unless said. */
  readonly runner?: string
  readonly limits?: SessionLimits
  /** How long to wait for its end; not at all unless said. */
  readonly waitMs?: number
}

/** How one session is. */
export interface SessionStatus {
  readonly session: SessionEntry
  /** What it has used of its budget, where it has one that is counted. */
  readonly budget?: { readonly used: Readonly<Required<SessionLimits>>; readonly limits: SessionLimits }
  readonly children: readonly SessionBrief[]
  /** What was written to it, read now; of one's own session only. */
  readonly messages: readonly SessionMessage[]
  /** How many messages wait still. */
  readonly unread: number
}

/** A runner that agents may name. */
export interface RunnerBrief {
  readonly name: string
  readonly description?: string
}

/** The handle of a tool that declares the capability. */
export type SessionHandle = {
  list(wish: SessionListing): Promise<SessionPage & { readonly own: string; readonly runners: readonly RunnerBrief[] }>
  history(session: string, wish: HistoryWish): Promise<HistoryPage>
  send(session: string, wish: SendWish): Promise<SendOutcome>
  spawn(wish: SpawnWish): Promise<SessionEntry>
  /** One's own without a name. */
  status(session?: string): Promise<SessionStatus>
}

/** What the owner of a hub uses: every session of every process with its store, and every run in the index. */
export type SessionDesk = {
  list(wish?: SessionListing): Promise<SessionPage<SessionEntry>>
  /** By id or label. NOT_FOUND when there is none. */
  find(session: string): Promise<SessionStatus>
  history(session: string, wish?: HistoryWish): Promise<HistoryPage>
  send(session: string, wish: SendWish & { readonly by: string }): Promise<SendOutcome>
  spawn(wish: SpawnWish & { readonly by: string }): Promise<SessionEntry>
  /** Ends a session and all that it began; false when it was over. */
  end(session: string, how: { readonly by: string; readonly reason?: string }): Promise<boolean>
  runners(): Promise<readonly RunnerBrief[]>
}
