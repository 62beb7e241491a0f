import type {
  AnyTool,
  ApprovalReply,
  ApprovalRequest,
  CallEvent,
  CallOptions,
  HandlerTool,
  QuestionReply,
  QuestionRequest,
  StoredProcess,
  WireTool,
  WorkerQueueState,
} from '../core/index.ts'
import type { Policy } from '../policy/index.ts'
import type { Explanation } from './explain.ts'
import type { Hub } from './hub.ts'
import type { RunMoment } from './run-index/run-moments.ts'

/** Options of `explain`. */
export interface ExplainOptions extends CallOptions {
  /** Decides by these rules. Default: the current policy. */
  readonly policy?: Policy
  /** Decides as of this moment of the run, see `recordedCalls`. Default: now. */
  readonly asOf?: RunMoment
}

/** Who clears the taint of a run, and why. */
export interface ClearTaintOptions {
  /** The approver, as the record names it. */
  readonly by: string
  /** Why the content from outside is harmless; at most 2,000 characters. */
  readonly reason: string
}

/** The taint that was cleared. */
export interface ClearedTaint extends ClearTaintOptions {
  /** Id of the run. */
  readonly run: string
  /** What had tainted it: `mcp:mail/get_unread`, `https://example.org`, a path, `caller`. */
  readonly sources: readonly string[]
  /** Whether the run has read more content from outside meanwhile, so that it is tainted again. */
  readonly isTainted: boolean
}

/** A hub as one principal uses it. */
export interface PrincipalHub
  extends Pick<
      Hub,
      'run' | 'addUserText' | 'callDynamic' | 'list' | 'cards' | 'artifact' | 'endRun' | 'onToolsChanged'
    >,
    Pick<Hub, 'openArtifact' | 'ready' | 'connect' | 'registry'> {
  /** The name of the principal, recorded with every call. */
  readonly name: string
  /** Calls a tool and yields its events; `call-ended` is last. */
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  /** Returns what policy would decide for a call of this principal, and by which rule. Executes nothing. */
  explain(tool: string, input: unknown, options?: CallOptions): Promise<Explanation>
}

/** The tools of a hub by name: register, get, list, and list for a model. */
export interface ToolRegistry {
  /** Registers a tool, or a definition with `parameters` and a `handler`. */
  register(tool: AnyTool | HandlerTool): void
  /** Finds a tool by canonical, wire or dialect name, visible or not. */
  get(name: string): AnyTool | undefined
  /** All tools, visible or not. */
  list(): readonly AnyTool[]
  /** Returns the visible tools in the form that model providers expect. Default dialect: that of the profile. */
  listForLLM(options?: { readonly dialect?: string }): WireTool[]
}

/** The pending approvals and how to answer them. A hub with a watcher has somebody who can answer. */
export interface Approvals {
  /** Returns the approval requests that are pending in this process. */
  list(): readonly ApprovalRequest[]
  /** Answers a request of this process. Returns `false` if it is unknown or already answered: the first answer wins. */
  reply(id: string, reply: ApprovalReply): boolean
  /**
   * Answers a request of any process that shares the store, after checking changed arguments. Returns `false` if the
   * request was already answered, and `undefined` if there is no such request.
   */
  answer(id: string, reply: ApprovalReply): Promise<boolean | undefined>
  /**
   * Calls the listener for every new request. While a listener is registered, calls wait for an approval instead of
   * failing. Returns a function that removes the listener.
   */
  watch(listener: (request: ApprovalRequest) => void): () => void
}

/** The pending questions of tools to a person and how to answer them. A hub with a watcher has somebody who can answer. */
export interface Questions {
  /** Returns the questions that are pending in this process. */
  list(): readonly QuestionRequest[]
  /** Answers a question of any process that shares the store. Returns whether this was the first answer. */
  reply(id: string, reply: QuestionReply, whose?: { readonly by?: string; readonly via?: string }): Promise<boolean>
  /** Like `reply`, but returns `false` if the question was already answered and `undefined` if there is no such question. */
  answer(
    id: string,
    reply: QuestionReply,
    whose?: { readonly by?: string; readonly via?: string },
  ): Promise<boolean | undefined>
  /**
   * Calls the listener for every new question. While a listener is registered, questions wait for an answer instead of
   * failing. Returns a function that removes the listener.
   */
  watch(listener: (request: QuestionRequest) => void): () => void
}

/** The calls that wait for workers, and the workers. */
export interface WorkerStates {
  /** Each place that calls wait for or are executed at, such as `worker:gpu`. */
  readonly queues: readonly WorkerQueueState[]
  /** The workers, also those that have missed their heartbeats within the last day. */
  readonly workers: readonly StoredProcess[]
}
