import type { BudgetLimits, FeatureHost, ProgramAccess, Rule, SourcedRule, ToolResult } from '@tool-hub/core'
import type { SessionMessage } from './types.ts'

/** Maximum length of a result; the rest is cut. */
export const MAX_RESULT_CHARS = 50_000
/** Maximum number of concurrent calls of a session. */
export const MAX_CONCURRENT_CALLS = 32
/** Maximum size of one line, or of one response, of a runner. */
export const MAX_LINE_BYTES = 1_000_000

/** The options of sessions. */
export type SessionsOptions = {
  /** The runners of sessions, by name. Default: none, so that agents cannot start sessions. */
  readonly runners?: Readonly<Record<string, Runner>>
  /** `tree`: an agent sees its ancestors and descendants; `principal`: also all other sessions of the same principal. Default: `tree`. */
  readonly visibility?: 'tree' | 'principal'
  /** Maximum number of ancestors of a session, up to 10. Default: 5. */
  readonly maxDepth?: number
  /** Maximum number of running sessions of one root, up to 256. Default: 16. */
  readonly maxRunning?: number
}

/** Limits of one session, in addition to those of its ancestors. */
export type SessionLimits = Pick<BudgetLimits, 'calls' | 'wallMs' | 'cost'>

/** What works in a session. */
export type Runner = CommandRunner | UrlRunner | CallbackRunner

interface RunnerCommon {
  /** What it is good for; agents read it. */
  readonly description?: string
  /** Limits the tools that its sessions see to these, out of those that their creator sees: names, `group:…`. */
  readonly tools?: readonly string[]
  /** Further rules for its sessions; they cannot allow what the creator of a session may not do. */
  readonly policy?: readonly (Rule | SourcedRule)[]
  /** Limits of each of its sessions; the creator of a session may set lower ones. */
  readonly limits?: SessionLimits
  /** Maximum lifetime of one of its sessions. Default: 1 hour. */
  readonly timeoutMs?: number
}

/** A program that receives the task and works on it until it exits. */
export interface CommandRunner extends RunnerCommon {
  readonly type: 'command'
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly string[]
  /** The folder it runs in. Default: the working directory of the process; with `sandbox`, a folder that it can see. */
  readonly cwd?: string
  /** Environment variables in addition to PATH, HOME and the like; `${env:X}` and `${secret:x}` are filled in. */
  readonly env?: Readonly<Record<string, string>>
  /** Runs it in the sandbox of commands. Default: `false`. */
  readonly sandbox?: boolean | ProgramAccess
  /** `text`: the task on standard input, the result on standard output; `jsonl`: one JSON message per line, with tool calls. */
  readonly speaks?: 'text' | 'jsonl'
  /** Treats its output as trusted content. Default: `false`. */
  readonly trust?: boolean
}

/** A service that is called once per turn. */
export interface UrlRunner extends RunnerCommon {
  readonly type: 'url'
  /** The URL that receives each turn. */
  readonly url: string
  /** The key that signs each request, as in Standard Webhooks. */
  readonly secret?: string
  /** Maximum time of one turn. Default: 2 minutes. */
  readonly turnTimeoutMs?: number
  /** Maximum number of turns of a session. Default: 100. */
  readonly maxTurns?: number
  /** Treats its output as trusted content. Default: `false`. */
  readonly trust?: boolean
}

/** A function of the owner. */
export interface CallbackRunner extends RunnerCommon {
  /** Optional. */
  readonly type?: 'callback'
  /** Works on the task and returns the result. */
  readonly run: (session: SessionWork) => Promise<string> | string
}

/** A session as its runner sees it. */
export interface SessionWork {
  /** Also the run of its calls. */
  readonly id: string
  /** The name that its creator chose; absent if it chose none. */
  readonly label?: string
  /** The task, as written by the agent that started the session. */
  readonly task: string
  /** The tools that it may call, in the form that model providers expect. */
  readonly tools: readonly SessionTool[]
  /** Calls a tool with the rights of this session. */
  call(tool: string, input: unknown, options?: { readonly signal?: AbortSignal }): Promise<ToolResult>
  /** Messages to the session as they arrive; ends with the session. */
  messages(): AsyncIterable<SessionMessage>
  /** Sends a message to the session that started it. */
  say(text: string, options?: { readonly replyTo?: string }): Promise<void>
  /** Aborts when the session is ended. */
  readonly signal: AbortSignal
}

/** A tool in the form that model providers expect. */
export interface SessionTool {
  /** The name that the model calls. */
  readonly name: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: Record<string, unknown>
}

/** What a runner receives. */
export interface SessionTask {
  /** Its name in the options. */
  readonly runner: string
  readonly work: SessionWork
  /** Takes the unread messages of its inbox without waiting. */
  readonly take: () => Promise<readonly SessionMessage[]>
  readonly host: Pick<FeatureHost, 'startProgram' | 'webFetch' | 'secret' | 'hide' | 'clock'>
}

/** The first message to a runner that reads JSON. */
export function taskMessage({ id, label, task, tools }: SessionWork) {
  return { type: 'task', session: id, ...(label !== undefined && { label }), task, tools } as const
}

/** The result of a call for a runner that reads JSON: what a model would receive. */
export function resultMessage(id: string, result: ToolResult) {
  const { ok, status, content, meta, error } = result
  const isUntrusted = meta.labels?.includes('untrusted') === true
  return { id, ok, status, content, ...(error && { error }), ...(isUntrusted && { isUntrusted }) }
}
