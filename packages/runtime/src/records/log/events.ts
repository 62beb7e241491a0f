import type {
  CallerKind,
  CallOptions,
  Effect,
  ErrorCode,
  FilesLevel,
  KeptChange,
  Label,
  SandboxLevel,
  ScriptPlace,
  ToolResult,
} from '@tool-hub/core'
import type {
  HubChanged,
  LineTorn,
  RecordsLost,
  RunClosed,
  RunOpened,
  RunTainted,
  TaintCleared,
  UserTextAdded,
} from './run-events.ts'

/** What is known of a call before it runs: who asks for what, and which rule decided. */
export interface CallFacts extends Pick<CallOptions, 'session' | 'purpose' | 'requestId' | 'taskId' | 'goalId'> {
  /** Who calls, as the caller says. */
  readonly caller: string
  /** The authenticated caller, if there is one. */
  readonly principal?: string
  /** The name that the caller used, where it is not the canonical one. */
  readonly wire?: string
  /** Whether an agent called, or a script that a model wrote. */
  readonly via?: CallerKind
  /** The call that made this one. */
  readonly parent?: string
  /** Where in a model's script the call was made. */
  readonly script?: ScriptPlace
  /** SHA-256 of the validated arguments. */
  readonly argsHash?: string
  /** Redacted; over 2 KB only `argsBytes`, their size or a little less, is kept. */
  readonly args?: unknown
  /** Size of arguments that are not repeated here. */
  readonly argsBytes?: number
  /** `write:fs /srv/notes.md`, one line a target. */
  readonly targets?: readonly string[]
  /** SHA-256 of the idempotency key: equal keys are seen, the key is not. */
  readonly keyHash?: string
  /** What policy decided. */
  readonly effect?: Effect
  /** The rule that decided, as `policy explain` prints it. */
  readonly rule?: string
  /** The run had read content from outside when policy decided. */
  readonly tainted?: true
  /** How strongly its commands were isolated; absent for calls that run none. */
  readonly sandbox?: SandboxLevel
  /** How the file guard holds paths, for a call that uses files where that is not by descriptors. */
  readonly files?: FilesLevel
  /** Nothing was executed. */
  readonly dryRun?: true
}

/** A failure as the audit keeps it; models never see `stack` and `details`. */
export interface RecordedError {
  /** The code of the error table. */
  readonly code: ErrorCode
  /** The message that the caller got, redacted. */
  readonly message: string
  /** Where it was thrown; only for defects. */
  readonly stack?: string
  /** What the error carried for the audit, redacted. */
  readonly details?: unknown
}

interface OfCall {
  /** Id of the call, the same in all its lines. */
  readonly callId: string
  /** Canonical name of the tool. */
  readonly tool: string
}

/** A call is about to run. With effects, this line is on disk before they happen. */
export interface CallStarted extends OfCall, CallFacts {
  readonly type: 'call-started'
}

/** The one end of a call. It repeats the facts only when the call never started: refused, denied. */
export interface CallEnded extends OfCall, Partial<CallFacts> {
  readonly type: 'call-ended'
  /** How the call ended. */
  readonly status: ToolResult['status']
  /** Time from its start to its end, waiting for approval included. */
  readonly durationMs: number
  /** How much of it people took to answer. */
  readonly waitedMs?: number
  /** Size of what the call returned, as a budget counts it. */
  readonly bytes: number
  /** How often `execute` ran; absent for once. */
  readonly attempts?: number
  /** SHA-256 of the data; absent when there was none. */
  readonly resultHash?: string
  /** What the call did, in one line. */
  readonly summary?: string
  /** Who approved the call, or the remembered answer that covered it. */
  readonly approvedBy?: string
  /** `file:/srv/notes.md`, one a piece of evidence. */
  readonly evidence?: readonly string[]
  /** References of what was stored, `artifact:<sha256>`. */
  readonly artifacts?: readonly string[]
  /** The result was recorded before, for the same idempotency key. */
  readonly cached?: true
  /** Where the content comes from, when that matters. */
  readonly labels?: readonly Label[]
  /** The tool ignored its signal and was abandoned; `call-late` records its real end. */
  readonly abandoned?: true
  /** Id of the process that executed the call as a worker; absent if the process of the run did. */
  readonly worker?: string
  /** Notices that the caller got with the result: a budget nearly used up, a repeated failure. */
  readonly notices?: readonly string[]
  /** Why it failed; absent when it did not. */
  readonly error?: RecordedError
}

/** What a call returned, as the model got it. Recorded right before the end of the call, if `records.outputs` wants it. */
export interface CallOutput extends OfCall {
  readonly type: 'call-output'
  /** The beginning and the end of its text, redacted. */
  readonly text: string
  /** How many characters between them were left out; absent for none. */
  readonly cutChars?: number
}

/** The process went away before this call ended; its effects are unknown. */
export interface CallInterrupted extends OfCall {
  readonly type: 'call-interrupted'
  readonly status: 'interrupted'
}

/** What a tool did after it had been left behind. */
export interface CallLate extends OfCall {
  readonly type: 'call-late'
  /** Whether the tool returned after all. */
  readonly ok: boolean
  /** Time from the start of the call to the tool's own end. */
  readonly durationMs: number
  /** SHA-256 of what it returned. */
  readonly resultHash?: string
  /** What it threw. */
  readonly error?: RecordedError
}

/** The shadow policy decides otherwise about the call than the policy in force. At most one a call; it has no effect. */
export interface ShadowDiffered extends OfCall {
  readonly type: 'shadow-differed'
  /** What the policy in force decided. */
  readonly effect: Effect
  /** The rule in force that decided. */
  readonly rule: string
  /** What the shadow policy decides. */
  readonly shadowEffect: Effect
  /** The rule of the shadow policy that decides. */
  readonly shadowRule: string
  /** What the call used later, `network https://example.org/b`; absent if the decision before the call differs. */
  readonly target?: string
}

/** A person is asked. */
export interface ApprovalRequested extends OfCall {
  readonly type: 'approval-requested'
  /** Id of the request. */
  readonly approval: string
  /** Binds the answer to tool, final input, targets and sandbox level. Not `hash`, which is the line's own. */
  readonly bound: string
  /** The rule that asks. */
  readonly rule: string
  /** Why it asks, for people. */
  readonly reason?: string
}

/** A person, a saved grant or the code that stands for one has answered; also when nobody did. */
export interface ApprovalAnswered extends OfCall {
  readonly type: 'approval-answered'
  /** Id of the request. */
  readonly approval: string
  /** What was answered; the last three mean that nobody answered. */
  readonly decision: 'allow' | 'deny' | 'timeout' | 'aborted' | 'unavailable'
  /** Who answered; absent when nobody did. */
  readonly by?: string
  /** The way the answer came: console, cli, mcp and others. */
  readonly via?: string
  /** How long the answer holds; absent for once. */
  readonly remember?: string
  /** What a remembered answer covers: `exact`, `targets`, `pattern` or `values`. */
  readonly covers?: string
  /** Of `values`: the arguments, and the SHA-256 of each approved value as canonical JSON. */
  readonly values?: readonly { readonly argument: string; readonly hash: string }[]
  /** Why, as the person said. */
  readonly reason?: string
  /** The approver changed the arguments, to those with this hash. */
  readonly changed?: true
  /** SHA-256 of the changed arguments. */
  readonly argsHash?: string
}

/** Somebody else has to do it now, such as the client. */
export interface CallPending extends OfCall {
  readonly type: 'call-pending'
  /** What it waits for. */
  readonly message: string
}

/** An answer to a call came that was not wanted any more: too late, twice, from the wrong one. */
export interface AnswerRefused extends OfCall {
  readonly type: 'answer-refused'
  /** Who answered. */
  readonly by: string
  /** Why the answer was not taken. */
  readonly reason: string
}

/** A hook that may only look has failed; the call is not touched by it. */
export interface HookFailed extends OfCall {
  readonly type: 'hook-failed'
  /** What the hook threw. */
  readonly message: string
}

/** A file is about to change; the run's `undo/` folder has what takes the change back. */
export type FileChanging = OfCall & KeptChange & { readonly type: 'file-changing' }

/** A change was taken back, or needs none of it: the event `change` of the run. */
export interface ChangeUndone extends OfCall {
  readonly type: 'change-undone'
  /** The run whose change it was. */
  readonly run: string
  /** Number of the line that recorded the change in that run. */
  readonly change: number
  /** Nothing was kept to take it back with: it stays, and the next undo goes further back. */
  readonly outcome?: 'not undoable'
}

/** A command has connected to a host, or was kept from it. */
export interface CommandConnected extends OfCall {
  readonly type: 'command-connected'
  /** Where to, at most 2,000 characters. */
  readonly url: string
  /** `connected`, or why not. */
  readonly outcome: string
}

/** A command could read content from outside, so its run counts as having read it. */
export interface CommandTainted extends OfCall {
  readonly type: 'command-tainted'
  /** What it could read. */
  readonly reason: string
}

/** The call has changed files that git hooks, package managers or pipelines run or obey by themselves. */
export interface RunLaterChanged extends OfCall {
  readonly type: 'run-later-changed'
  /** Which files, and who runs or obeys each. */
  readonly files: readonly { readonly path: string; readonly by: string }[]
}

/** A command in the background did something that the owner must know, after its call had ended. */
export interface CallNoticed extends OfCall {
  readonly type: 'call-noticed'
  /** The notice, redacted. Notices of a call that has not ended are in its end. */
  readonly notice: string
}

/** A command continues though its call is over. */
export interface ProcessStarted extends OfCall {
  readonly type: 'process-started'
  /** Its session id, as `core/exec.process` takes it. */
  readonly process: string
  /** The command as one line, redacted. */
  readonly command: string
}

/** A command in the background has ended, or was ended. */
export interface ProcessEnded extends OfCall {
  readonly type: 'process-ended'
  /** Its session id. */
  readonly process: string
  /** Absent when a signal ended it. */
  readonly exitCode?: number
  /** What ended it, where it did not end by itself: `SIGKILL`. */
  readonly signal?: string
  /** It was killed because its time was over. */
  readonly timedOut?: boolean
}

/** The hub of a command in the background went away, and the command with it; a later hub tells it. */
export interface ProcessLost extends Partial<OfCall> {
  readonly type: 'process-lost'
  /** Its session id. */
  readonly process: string
  /** The command as one line, redacted. */
  readonly command: string
}

/** What can be appended to a run. Write `type`, `callId` and `tool` first: readers find them there without parsing. */
export type EventBody =
  | CallStarted
  | CallEnded
  | CallOutput
  | CallInterrupted
  | CallLate
  | ShadowDiffered
  | ApprovalRequested
  | ApprovalAnswered
  | CallPending
  | AnswerRefused
  | HookFailed
  | FileChanging
  | ChangeUndone
  | CommandConnected
  | CommandTainted
  | RunLaterChanged
  | CallNoticed
  | ProcessStarted
  | ProcessEnded
  | ProcessLost
  | HubChanged
  | UserTextAdded
  | RunTainted
  | TaintCleared
  | RunOpened
  | RunClosed
  | LineTorn
  | RecordsLost

/** One line of events.jsonl. */
export type RecordEvent = EventBody & {
  readonly seq: number
  readonly time: string
  /** Hash of the line before. */
  readonly prev: string
  /** SHA-256 of everything before this field. */
  readonly hash: string
}
