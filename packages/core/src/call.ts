import type { ErrorCode, FailureStatus, Fix } from './errors.ts'

/** Something a person or a program can check afterwards; never holds a secret. */
export interface Evidence {
  /** What `ref` names: a path, a URL, a call, or the text itself. */
  readonly type: 'file' | 'url' | 'tool' | 'text'
  /** Where to check it: a path, a URL or a call id, without secrets. */
  readonly ref: string
  /** What was done or seen there, in one line, such as a size and a hash. */
  readonly summary: string
}

/** A stored piece of a result that was too large to hand over, or that a tool made. */
export interface Artifact {
  /** `artifact:<sha256>`, readable by `hub.artifact(ref)`. */
  readonly ref: string
  /** File name for people; it does not identify the artifact, `ref` does. */
  readonly name: string
  /** Size of the content. */
  readonly bytes: number
  /** Hash of the content in lower-case hex, the same as in `ref`. */
  readonly sha256: string
  /** Media type such as `text/plain`, as the tool declared it. */
  readonly mediaType: string
}

/** One block of what a model sees. */
export type ContentBlock =
  | {
      readonly type: 'text'
      /** The text as the model gets it, already cut to the limit. */
      readonly text: string
      /** Of the progress of a command: where it wrote this. */
      readonly stream?: 'stdout' | 'stderr'
    }
  | { readonly type: 'image'; readonly data: string; readonly mediaType: string }
  | { readonly type: 'audio'; readonly data: string; readonly mediaType: string }
  /** A document that came whole: its text, or its bytes as base64. */
  | {
      readonly type: 'resource'
      /** Where the document is, as its server names it. */
      readonly uri: string
      /** Media type such as `text/markdown`; absent when it is not known. */
      readonly mediaType?: string
      /** The text of the document; absent for bytes. */
      readonly text?: string
      /** The bytes of the document as base64; absent for text. */
      readonly data?: string
    }
  /** A document that stays where it is. */
  | {
      readonly type: 'resource-link'
      /** Where the document is, as its server names it. */
      readonly uri: string
      /** Name of the document for programs and models. */
      readonly name: string
      /** Name of the document for people. */
      readonly title?: string
      /** What the document is about, in words of its server. */
      readonly description?: string
      /** Media type such as `text/markdown`; absent when it is not known. */
      readonly mediaType?: string
      /** Size of the document, where its server says it. */
      readonly bytes?: number
    }

/** What `toModel` and `ctx.progress` accept. */
export type Content = string | readonly ContentBlock[]

/** The failure of a call, in the form that callers and models get. */
export interface CallError {
  /** The code of the error table; branch on it, not on the message. */
  readonly code: ErrorCode
  /** What happened, with names and numbers, for people and models. */
  readonly message: string
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean
  /** What to change so that the call would work; always has a `hint`. */
  readonly fix: Fix
}

/** What is known of where content comes from. */
export type Label = 'untrusted'

/** What happened on the way; marks of truncation live here, never in `data`. */
export interface ResultMeta {
  /** Time from the start of the call to its end in milliseconds, waiting for approval included. */
  readonly durationMs: number
  /** How often `execute` ran; 0 when the call was refused before. */
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
  /** Who approved the call, or the remembered answer that covered it; absent when policy did not ask. */
  readonly approvedBy?: string
  /** Where the content comes from, when that matters: `untrusted` for the network and untrusted roots. */
  readonly labels?: readonly Label[]
  /** Things the caller should know: a budget three quarters used, a repeated failure. */
  readonly notices?: readonly string[]
}

interface ResultBase {
  /** Id of the call, as events and records name it. */
  readonly callId: string
  /** Canonical name. */
  readonly tool: string
  /** What the call did in one line of at most 200 characters, for logs and people. */
  readonly summary: string
  /** What a model gets: `toModel` of the data or the data as JSON, cut to the limit. */
  readonly content: readonly ContentBlock[]
  /** Content stored for this call; read it with `hub.artifact(ref)`. */
  readonly artifacts: readonly Artifact[]
  /** What can be checked afterwards: files, URLs and hashes that the call touched. */
  readonly evidence: readonly Evidence[]
  /** How the call went: time, attempts, rule, approval, truncation, notices. */
  readonly meta: ResultMeta
}

/** A call that worked. */
export interface Success<T = unknown> extends ResultBase {
  readonly ok: true
  /** `ok`; `pending` or `running` when the tool started something that continues after the call. */
  readonly status: 'ok' | 'pending' | 'running'
  /** What the tool returned, checked against its output schema and never cut. */
  readonly data: T
  /** Never set on a success. */
  readonly error?: undefined
}

/** A call that did not: refused, failed, stopped. */
export interface Failure<T = unknown> extends ResultBase {
  readonly ok: false
  /** The kind of failure, such as `denied` or `timeout`; `error.code` says why. */
  readonly status: FailureStatus
  /** What there is nevertheless: the output of a command that failed. */
  readonly data?: T
  /** What went wrong and what to do next. */
  readonly error: CallError
}

/** What every call returns, a union on `ok`. */
export type ToolResult<T = unknown> = Success<T> | Failure<T>

/** What the user said, oldest first. */
export type UserText = string | readonly string[]

/** Whether a value is a text or a list of texts. */
export function isUserText(value: unknown): value is UserText {
  return [value].flat().every((text) => typeof text === 'string')
}
