import type { ErrorCode, FailureStatus, Fix } from './errors.ts'

/** Something a person or a program can check afterwards; never holds a secret. */
export interface Evidence {
  readonly type: 'file' | 'url' | 'tool' | 'text'
  readonly ref: string
  readonly summary: string
}

/** A stored piece of a result that was too large to hand over, or that a tool made. */
export interface Artifact {
  /** `artifact:<sha256>`, readable by `hub.artifact(ref)`. */
  readonly ref: string
  readonly name: string
  readonly bytes: number
  readonly sha256: string
  readonly mediaType: string
}

const ARTIFACT_REF = /^artifact:([0-9a-f]{64})$/

/** The hash, and with it the file name, of a reference to an artifact; undefined for any other text. */
export function artifactHash(ref: string): string | undefined {
  return ARTIFACT_REF.exec(ref)?.[1]
}

/** One block of what a model sees. */
export type ContentBlock =
  | {
      readonly type: 'text'
      readonly text: string
      /** Of the progress of a command: where it wrote this. */
      readonly stream?: 'stdout' | 'stderr'
    }
  | { readonly type: 'image'; readonly data: string; readonly mediaType: string }
  | { readonly type: 'audio'; readonly data: string; readonly mediaType: string }
  /** A document that came whole: its text, or its bytes as base64. */
  | {
      readonly type: 'resource'
      readonly uri: string
      readonly mediaType?: string
      readonly text?: string
      readonly data?: string
    }
  /** A document that stays where it is. */
  | {
      readonly type: 'resource-link'
      readonly uri: string
      readonly name: string
      readonly title?: string
      readonly description?: string
      readonly mediaType?: string
      readonly bytes?: number
    }

/** What `toModel` and `ctx.progress` accept. */
export type Content = string | readonly ContentBlock[]

/** The failure of a call, in the form that callers and models get. */
export interface CallError {
  readonly code: ErrorCode
  readonly message: string
  readonly retryable: boolean
  readonly fix: Fix
}

/** What is known of where content comes from. */
export type Label = 'untrusted'

/** What happened on the way; marks of truncation live here, never in `data`. */
export interface ResultMeta {
  readonly durationMs: number
  readonly attempts: number
  /** The text for the model was cut; the whole is the artifact of this reference. */
  readonly truncated?: { readonly cutChars?: number; readonly artifact?: string }
  /** The recorded result of an earlier call with the same idempotency key. */
  readonly cached?: true
  /** Steps 1 to 5 only: nothing was executed. */
  readonly dryRun?: true
  /** The tool ignored its signal and was left behind; its late end is recorded. */
  readonly abandoned?: true
  /** The rule that decided, as `policy explain` prints it. */
  readonly rule?: string
  readonly approvedBy?: string
  /** Where the content comes from, when that matters: `untrusted` for the network and untrusted roots. */
  readonly labels?: readonly Label[]
  /** Things the caller should know: a budget three quarters used, a repeated failure. */
  readonly notices?: readonly string[]
}

interface ResultBase {
  readonly callId: string
  /** Canonical name. */
  readonly tool: string
  readonly summary: string
  readonly content: readonly ContentBlock[]
  readonly artifacts: readonly Artifact[]
  readonly evidence: readonly Evidence[]
  readonly meta: ResultMeta
}

/** A call that worked. */
export interface Success<T = unknown> extends ResultBase {
  readonly ok: true
  readonly status: 'ok' | 'pending' | 'running'
  readonly data: T
  readonly error?: undefined
}

/** A call that did not: refused, failed, stopped. */
export interface Failure<T = unknown> extends ResultBase {
  readonly ok: false
  readonly status: FailureStatus
  /** What there is nevertheless: the output of a command that failed. */
  readonly data?: T
  readonly error: CallError
}

/** What every call gives back, a union on `ok`. */
export type ToolResult<T = unknown> = Success<T> | Failure<T>

/** What a stream of one call yields, in order; `call-ended` is last and comes exactly once. */
export type CallEvent<T = unknown> =
  | { readonly type: 'call-started'; readonly callId: string; readonly tool: string }
  | { readonly type: 'approval-requested'; readonly callId: string; readonly request: ApprovalRequest }
  /** Somebody has answered; whoever else was asked need not. */
  | {
      readonly type: 'approval-answered'
      readonly callId: string
      /** Id of the request. */
      readonly approval: string
      readonly decision: ApprovalReply['decision']
      readonly by: string
      readonly via?: string
      /** The approver changed the arguments. */
      readonly changed?: true
    }
  | { readonly type: 'question-asked'; readonly callId: string; readonly request: QuestionRequest }
  /** Somebody has answered, or without `by` nobody will any more. */
  | {
      readonly type: 'question-answered'
      readonly callId: string
      /** Id of the request. */
      readonly question: string
      readonly by?: string
      readonly via?: string
    }
  /** Somebody else has to do it now, such as the client; the call goes on when they answer. */
  | { readonly type: 'call-pending'; readonly callId: string; readonly tool: string; readonly message: string }
  | { readonly type: 'call-progressed'; readonly callId: string; readonly content: readonly ContentBlock[] }
  | { readonly type: 'call-ended'; readonly callId: string; readonly result: ToolResult<T> }

/** A question to a person: may this very call happen? */
export interface ApprovalRequest {
  readonly id: string
  readonly callId: string
  readonly run: string
  readonly session?: string
  readonly tool: string
  readonly input: unknown
  /** `write:fs /srv/notes.md`, one line a target. */
  readonly targets: readonly string[]
  /** The rule that asks. */
  readonly rule: string
  readonly reason: string
  readonly caller: string
  /** Who calls for certain, where others come in by the same door; nobody answers for their own calls. */
  readonly principal?: string
  readonly purpose?: string
  /** What skills asked for that touches this call; information, never a grant. */
  readonly requests: readonly string[]
  /** Where the run's content comes from, when that matters. */
  readonly labels: readonly Label[]
  /** What the arguments mean: the diff of an edit, the parts of a command, the address of a URL. */
  readonly views: readonly AskView[]
  /** The calls of the run so far, newest first, at most 10. */
  readonly history: readonly RecentCall[]
  /** What a remembered answer would cover, in words, by the value of `covers`; what is absent cannot be covered. */
  readonly coverage: { readonly exact: string; readonly targets?: string }
  /** Binds the answer to tool, final input, targets and sandbox level. */
  readonly hash: string
  readonly askedAt: string
  /** An answer that comes later is too late. */
  readonly expiresAt: string
}

/** What a call would do, as a person reads it best. */
export type AskView =
  /** A command as policy reads it: its parts in order, the one that decided marked. */
  | {
      readonly kind: 'command'
      readonly command: string
      readonly cwd?: string
      readonly parts: ReadonlyArray<{
        readonly text: string
        readonly effect: 'allow' | 'ask' | 'deny'
        readonly rule: string
        readonly decides: boolean
      }>
    }
  /** What would change in a file, as a unified diff. */
  | { readonly kind: 'diff'; readonly path: string; readonly diff: string; readonly isNew: boolean }
  /** Where a request would go, and the addresses that the name has now. */
  | { readonly kind: 'url'; readonly url: string; readonly addresses: readonly string[]; readonly problem?: string }

/** A call that has ended, in short. */
export interface RecentCall {
  readonly callId: string
  readonly tool: string
  readonly status: ToolResult['status']
  readonly summary?: string
}

/** The answer of a person or of the code that stands for one. */
export interface ApprovalReply {
  readonly decision: 'allow' | 'deny'
  /** How long the answer holds; `once` unless said. */
  readonly remember?: 'once' | 'session' | 'always' | { readonly until: string }
  /** What a remembered answer covers: this very call, or any call of the tool on the same targets; `exact` unless said. */
  readonly covers?: 'exact' | 'targets'
  readonly reason?: string
  readonly by?: string
  /** The way it came: console, cli, websocket, webhook, mcp, terminal; `library` unless said. */
  readonly via?: string
  /** With a yes: other arguments, which are checked and judged again before they run. */
  readonly input?: unknown
}

/** Something a tool asks the person behind the agent, while it waits for the answer. */
export interface QuestionRequest {
  readonly id: string
  readonly callId: string
  readonly run: string
  readonly tool: string
  readonly caller: string
  /** Who calls for certain, where others come in by the same door. */
  readonly principal?: string
  readonly question: string
  readonly context?: string
  readonly options?: readonly string[]
  /** Taken when nobody answers in time. */
  readonly defaultAnswer?: string
  /** Flat JSON Schema, where more than a text is wanted. */
  readonly form?: Readonly<Record<string, unknown>>
  readonly askedAt: string
  readonly expiresAt: string
}
