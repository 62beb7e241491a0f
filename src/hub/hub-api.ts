import type {
  AnyTool,
  ApprovalReply,
  ApprovalRequest,
  CallEvent,
  CallOptions,
  HandlerTool,
  QuestionReply,
  QuestionRequest,
} from '../core/index.ts'
import type { Policy } from '../policy/index.ts'
import type { Explanation } from './explain.ts'
import type { Hub } from './hub.ts'
import type { WireTool } from './pipeline/registry.ts'

/** How a call is explained. */
export interface ExplainOptions extends CallOptions {
  /** Decides by these rules instead of the current ones. */
  readonly policy?: Policy
}

/** What a principal may use of a hub. */
export interface PrincipalHub
  extends Pick<Hub, 'run' | 'callDynamic' | 'list' | 'cards' | 'artifact' | 'endRun' | 'onToolsChanged'>,
    Pick<Hub, 'openArtifact' | 'ready' | 'connect' | 'registry'> {
  /** The name of the principal, recorded with every call. */
  readonly name: string
  /** Calls a tool and yields its events; `call-ended` is last. */
  stream(tool: string, input: unknown, options?: CallOptions): AsyncIterable<CallEvent>
  /** What policy would decide for a call of this principal, and by which rule. Does nothing. */
  explain(tool: string, input: unknown, options?: CallOptions): Promise<Explanation>
}

/** The tools of a hub by name: register, get, list, and list for a model. */
export interface ToolRegistry {
  /** Takes a tool, or a definition with `parameters` and a `handler` as it is. */
  register(tool: AnyTool | HandlerTool): void
  /** Finds a tool by canonical, wire or dialect name, visible or not. */
  get(name: string): AnyTool | undefined
  /** All tools, visible or not. */
  list(): readonly AnyTool[]
  /** The visible tools in the form model providers want, in one dialect. Default: that of the profile. */
  listForLLM(options?: { readonly dialect?: string }): WireTool[]
}

/** What waits for a person, and how to answer. Watching makes somebody reachable. */
export interface Approvals {
  /** What waits in this process now. */
  list(): readonly ApprovalRequest[]
  /** False when the request is unknown or answered already: the first answer wins. */
  reply(id: string, reply: ApprovalReply): boolean
  /**
   * Answers what waits in any process that shares the store, after changed arguments were checked: false when somebody was
   * faster, undefined when there is no such request.
   */
  answer(id: string, reply: ApprovalReply): Promise<boolean | undefined>
  /**
   * Calls the listener for every new request; while there is one, calls wait instead of failing. Returns a function
   * that removes it.
   */
  watch(listener: (request: ApprovalRequest) => void): () => void
}

/** What tools ask the person behind the agent, and how to answer. Watching makes somebody reachable. */
export interface Questions {
  /** What waits in this process now. */
  list(): readonly QuestionRequest[]
  /** Answers a question of any process that shares the store; tells whether it was the first. */
  reply(id: string, reply: QuestionReply, whose?: { readonly by?: string; readonly via?: string }): Promise<boolean>
  /** The same; false when somebody was faster, undefined when there is no such question. */
  answer(
    id: string,
    reply: QuestionReply,
    whose?: { readonly by?: string; readonly via?: string },
  ): Promise<boolean | undefined>
  /**
   * Calls the listener for every new question; while there is one, questions wait instead of failing. Returns a
   * function that removes it.
   */
  watch(listener: (request: QuestionRequest) => void): () => void
}
