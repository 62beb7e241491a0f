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
  readonly purpose?: string
  /** What skills asked for that touches this call; information, never a grant. */
  readonly requests: readonly string[]
  /** Binds the answer to tool, final input, targets and sandbox level. */
  readonly hash: string
  readonly askedAt: string
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
}
