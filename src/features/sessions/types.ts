import type { BudgetLimits, ProgramFence, Rule, SourcedRule, ToolResult } from '../../core/index.ts'
import type { SessionState } from './store-types.ts'

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
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly string[]
  /** The folder it runs in. Default: the working directory of the process; with `sandbox`, a folder that it can see. */
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
  /** Where each turn is sent. */
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
  /** May be left out: `run` says it. */
  readonly type?: 'callback'
  /** Works on the task; what it gives back is the result. */
  readonly run: (session: SessionWork) => Promise<string> | string
}

/** A session as the code that works in it has it. */
export interface SessionWork {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its maker chose for it; absent when it chose none. */
  readonly label?: string
  /** What is to be done, as the agent that began the session wrote it. */
  readonly task: string
  /** What it may call, in the form that model providers want. */
  readonly tools: readonly SessionTool[]
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
export interface SessionTool {
  /** The name that the model calls. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
}

/** Something that one session wrote to another. */
export interface SessionMessage {
  /** Answer with this id as `replyTo`. */
  readonly id: string
  /** The session that wrote it; `owner` for the owner of the hub. */
  readonly from: string
  /** The session that gets it. */
  readonly to: string
  /** What it says. */
  readonly text: string
  /** Id of the message that it answers; absent for a new one. */
  readonly replyTo?: string
  /** It comes from somebody who has read content from outside. */
  readonly isUntrusted: boolean
  /** ISO time. */
  readonly sentAt: string
}

/** A session in a list. */
export interface SessionBrief {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its maker chose for it; absent when it chose none. */
  readonly label?: string
  /** The session that began it; absent for a root. */
  readonly parent?: string
  /** Absent for a run that somebody works in who came by another way. */
  readonly runner?: string
  /** Whether it works, and how it ended. */
  readonly state: SessionState
  /** ISO time. */
  readonly createdAt: string
  /** ISO time; absent while it lasts. */
  readonly endedAt?: string
}

/** All that is known of a session. */
export interface SessionEntry extends SessionBrief {
  /** The session that all those above it came from; its own id for a root. */
  readonly root: string
  /** Whose it is; absent for the owner of the hub. */
  readonly principal?: string
  /** What it was begun for; absent for one that no agent began. */
  readonly task?: string
  /** Why it is over, where that is not plain. */
  readonly reason?: string
  /** What its runner returned; absent before, and when it failed. */
  readonly result?: string
  /** It has read content from outside. */
  readonly isTainted: boolean
}

/** Sessions, newest first. */
export interface SessionPage<S = SessionBrief> {
  /** The sessions, newest first. */
  readonly sessions: readonly S[]
  /** `before` of the next page; absent when there is none. */
  readonly next?: string
}

/** Which sessions. */
export interface SessionListing {
  /** Only those in this state. Default: all. */
  readonly state?: SessionState
  /** `next` of an earlier page. */
  readonly before?: string
  /** Most sessions of the page. Default: 50. */
  readonly limit?: number
}

/** One thing that happened in a session. */
export type HistoryEntry =
  | {
      readonly type: 'call'
      /** ISO time of its end. */
      readonly at: string
      /** Id of the call, as the records name it. */
      readonly callId: string
      /** Canonical name of the tool. */
      readonly tool: string
      /** How the call ended: `ok`, or the kind of failure. */
      readonly status: string
      /** What it did, in one line. */
      readonly summary: string
      /** It read content from outside. */
      readonly isUntrusted: boolean
    }
  | { readonly type: 'message'; readonly at: string; readonly message: SessionMessage }

/** A part of what happened in a session, oldest first. */
export interface HistoryPage {
  /** Id of the session. */
  readonly session: string
  /** Calls and messages, oldest first. */
  readonly entries: readonly HistoryEntry[]
  /** `before` of the page of what came earlier; absent at the beginning. */
  readonly earlier?: string
  /** `after` of what comes later. */
  readonly later: string
}

/** Which part of a history: the newest unless said. */
export interface HistoryWish {
  /** Most entries. Default: 50. */
  readonly limit?: number
  /** `earlier` of another page: what came before it. */
  readonly before?: string
  /** `later` of another page: what came after it. */
  readonly after?: string
}

/** A message that is to be sent. */
export interface SendWish {
  /** What to say. */
  readonly text: string
  /** Id of the message that it answers. Default: none. */
  readonly replyTo?: string
  /** How long to wait for an answer; not at all unless said. */
  readonly waitMs?: number
}

/** What became of a message. It is kept whatever the status says. */
export interface SendOutcome {
  /** Id of the message. */
  readonly message: string
  /** The session that gets it. */
  readonly session: string
  /** `ended`: the session was over before it answered. */
  readonly status: 'sent' | 'replied' | 'timeout' | 'ended'
  /** The answer, where there was one in time. */
  readonly reply?: SessionMessage
  /** State of the session that gets it. */
  readonly state: SessionState
  /** Why that session is over, where it is. */
  readonly reason?: string
}

/** A session that is to begin. */
export interface SpawnWish {
  /** What is to be done, for the runner. */
  readonly task: string
  /** A name to find it by: letters, digits, `.`, `_` and `-`, at most 40. Default: none. */
  readonly label?: string
  /** The one named `default` unless said. */
  readonly runner?: string
  /** What it may use; never more than its maker and its runner allow. Default: what the runner says. */
  readonly limits?: SessionLimits
  /** How long to wait for its end; not at all unless said. */
  readonly waitMs?: number
}

/** How one session is. */
export interface SessionStatus {
  /** All that is known of it. */
  readonly session: SessionEntry
  /** What it has used of its budget, where it has one that is counted. */
  readonly budget?: { readonly used: Readonly<Required<SessionLimits>>; readonly limits: SessionLimits }
  /** Sessions that it began. */
  readonly children: readonly SessionBrief[]
  /** What was written to it, read now; of one's own session only. */
  readonly messages: readonly SessionMessage[]
  /** How many messages wait still. */
  readonly unread: number
}

/** A runner that agents may name. */
export interface RunnerBrief {
  /** The name in `sessions.runners`. */
  readonly name: string
  /** What it is good for; absent when the owner does not say. */
  readonly description?: string
}

/** The handle of a tool that declares the capability. */
export type SessionHandle = {
  /** Sessions that the agent sees, with its own id and the runners it may name. */
  list(wish: SessionListing): Promise<SessionPage & { readonly own: string; readonly runners: readonly RunnerBrief[] }>
  /** What happened in a session that the agent sees; throws `NOT_FOUND` for others. */
  history(session: string, wish: HistoryWish): Promise<HistoryPage>
  /** Writes to another session, and waits for its answer if `waitMs` says so. */
  send(session: string, wish: SendWish): Promise<SendOutcome>
  /** Begins a session with at most the rights of this one, and waits for its end if `waitMs` says so. */
  spawn(wish: SpawnWish): Promise<SessionEntry>
  /** One's own without a name. */
  status(session?: string): Promise<SessionStatus>
}

/** What the owner of a hub uses: every session of every process with its store, and every run in the index. */
export type SessionService = {
  /** All sessions, newest first. */
  list(
    wish?: SessionListing & {
      /** Only those that work for this principal. Default: all. */
      readonly principal?: string
    },
  ): Promise<SessionPage<SessionEntry>>
  /** By id or label. NOT_FOUND when there is none. */
  find(session: string): Promise<SessionStatus>
  /** What happened in a session, by id or label. */
  history(session: string, wish?: HistoryWish): Promise<HistoryPage>
  /** Writes to a session as the owner, and waits for its answer if `waitMs` says so. */
  send(session: string, wish: SendWish & { readonly by: string }): Promise<SendOutcome>
  /** Begins a session that has no session above it. */
  spawn(wish: SpawnWish & { readonly by: string }): Promise<SessionEntry>
  /** Ends a session and all that it began; false when it was over. */
  end(session: string, how: { readonly by: string; readonly reason?: string }): Promise<boolean>
  /** The runners that the options name. */
  runners(): Promise<readonly RunnerBrief[]>
}
