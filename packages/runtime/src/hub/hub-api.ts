import type {
  AnyTool,
  ApprovalReply,
  ApprovalRequest,
  CallEvent,
  CallOptions,
  HandlerTool,
  Plugin,
  QuestionReply,
  QuestionRequest,
  ToolInput,
  ToolOutput,
  WireTool,
} from '@tool-hub/core'
import type { Explanation } from './explain.ts'
import type { Hub } from './hub.ts'

/** A hub as one principal uses it. */
export interface PrincipalHub
  extends Pick<
      Hub,
      'run' | 'addUserText' | 'callDynamic' | 'list' | 'cards' | 'artifact' | 'endRun' | 'onToolsChanged'
    >,
    Pick<Hub, 'openArtifact' | 'loading' | 'ready' | 'connect' | 'registry'> {
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
   * request was already answered, and `undefined` if the request does not exist.
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
  /** Like `reply`, but returns `false` if the question was already answered and `undefined` if the question does not exist. */
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

/** The tools of a hub by name. */
export type ByName<T extends AnyTool> = { [K in T as K['name']]: K }
/** The tool that is meant by a value or a name; `undefined` for a name that is only known at run time. */
type ToolOf<T extends AnyTool, X> = X extends keyof ByName<T> ? ByName<T>[X] : X extends AnyTool ? X : undefined
/** What the tool takes; anything if the tool is only known at run time. */
export type InputOf<T extends AnyTool, X> = ToolOf<T, X> extends AnyTool ? ToolInput<ToolOf<T, X>> : unknown
/** What the tool returns as `data`. */
export type OutputOf<T extends AnyTool, X> = ToolOf<T, X> extends AnyTool ? ToolOutput<ToolOf<T, X>> : unknown
/** The tools that a plugin lists. */
export type PluginTools<P extends Plugin> = P['tools'] extends readonly (infer X extends AnyTool)[] ? X : never
