import { isDeepStrictEqual } from 'node:util'
import {
  type CallOptions,
  type ContentBlock,
  type Failure,
  type ToolCard,
  type ToolResult,
  textOfBlock,
} from '@tool-hub/core'
import type { StandardSchema } from '@tool-hub/core/schema'
import type { CallbackRunner, SessionWork } from '@tool-hub/features/sessions/index'
import type { Hub } from '@tool-hub/runtime/hub'
import {
  approveOwnCall,
  type CallProgress,
  callWithProgress,
  failureText,
  NO_JSON,
  needsAnswer,
  parseArguments,
  userTextOf,
} from './model-calls.ts'
import { type AdapterOptions, asRequest, chooseCards, shownSchema, type ToolCaller } from './model-tools.ts'
import type { Provider } from './schema/for-provider.ts'

/** Options of `toAiSdk`. */
export interface AiSdkOptions extends AdapterOptions {
  /**
   * Convert the parameters for this provider, strict where its strict mode allows it. Default: as the tools declare
   * them.
   */
  readonly provider?: Provider
  /**
   * Who approves calls for which policy asks: the user, through the SDK's approval requests (`framework`), or the
   * approver of the hub (`hub`).
   */
  readonly approvals?: 'framework' | 'hub'
  /**
   * `false`: the texts of messages with the role `user` are not passed as `userText`, because others write as the user:
   * documents that were searched for, or another agent. Default: true.
   */
  readonly userText?: boolean
  /** Stream the progress of a call as preliminary results. Default: true. */
  readonly progress?: boolean
}

/** Output of a tool: preliminary outputs are its progress, the last one is the result of the call. */
export type AiSdkOutput = ToolResult | CallProgress

/** A tool as the AI SDK (6 and 7) takes it, by shape. */
export interface AiSdkTool {
  readonly type: 'dynamic'
  /** A short name for people; absent when the tool has none. */
  readonly title?: string
  /** When to use it, for the model. */
  readonly description: string
  /** Schema shown to the model; it accepts any value, because the hub validates. */
  readonly inputSchema: StandardSchema
  /** Whether the provider enforces the schema; absent if it cannot. */
  readonly strict?: boolean
  /** Whether policy asks about this call; absent with `approvals: 'hub'`. */
  readonly needsApproval?: (input: unknown, options?: { readonly messages?: readonly unknown[] }) => Promise<boolean>
  /** Calls the tool through the hub; a failure is a result, never an exception. */
  readonly execute: (
    input: unknown,
    options: {
      /** The SDK's id of the call. */
      readonly toolCallId: string
      /** The conversation so far; approvals and the words of the user are read from it. */
      readonly messages: readonly unknown[]
      /** Stops the call when it aborts. */
      readonly abortSignal?: AbortSignal
    },
  ) => AsyncIterable<AiSdkOutput> | Promise<AiSdkOutput>
  /** Converts the result to what the SDK sends to the model. */
  readonly toModelOutput: (result: { readonly output: AiSdkOutput }) => AiSdkModelOutput
}

/** What the model receives of a result, as the SDK defines it. */
export type AiSdkModelOutput =
  | { type: 'text' | 'error-text'; value: string }
  | { type: 'content'; value: AiSdkContentPart[] }

type AiSdkContentPart =
  | { type: 'text'; text: string }
  | { type: 'image-data' | 'file-data'; data: string; mediaType: string }

/**
 * Returns the visible tools as a tool set of the AI SDK; every call goes through the pipeline. The set is a snapshot,
 * so create it for each request. Where policy asks, the SDK asks its user, and an approved call runs with exactly the
 * approved input; a call that the user denies never reaches the hub and its records. Sign histories that come from a
 * client (`experimental_toolApprovalSecret`): the SDK takes approvals from them. The hub validates the arguments.
 * @example
 * const { text } = await generateText({ model, tools: toAiSdk(hub), stopWhen: stepCountIs(20), prompt })
 */
export function toAiSdk(hub: Hub, options: AiSdkOptions = {}): Record<string, AiSdkTool> {
  const { approvals = 'framework' } = options
  return toolSet(hub, options, approvals === 'framework' ? hub : undefined)
}

type ExplainingHub = Pick<Hub, 'explain' | 'addUserText'>

/** `policy` says whether to ask the user about a call; without it the approver of the hub is asked. */
function toolSet(hub: ToolCaller, options: AiSdkOptions, policy?: ExplainingHub): Record<string, AiSdkTool> {
  return Object.fromEntries(chooseCards(hub, options).map((card) => [card.name, toolOf(hub, card, options, policy)]))
}

function toolOf(
  hub: ToolCaller,
  card: ToolCard,
  { run, session, caller, provider, progress = true, userText: passesText = true }: AiSdkOptions,
  policy: ExplainingHub | undefined,
): AiSdkTool {
  const { name, title, description } = card
  const { schema, strict, restore } = shownSchema(card, provider)
  const callOf = (messages: unknown) => ({
    run,
    session,
    caller,
    userText: passesText ? userTextOf(messages) : undefined,
  })
  return {
    type: 'dynamic',
    ...(title !== undefined && { title }),
    description,
    inputSchema: schemaOf(schema),
    ...(strict && { strict }),
    ...(policy && {
      needsApproval: (input: unknown, context?: { readonly messages?: readonly unknown[] }) =>
        needsAnswer(policy, name, restore(input), callOf(context?.messages)),
    }),
    execute(input, { toolCallId, messages, abortSignal: signal }) {
      const isYes = policy !== undefined && isApproved(messages, { name, toolCallId, input })
      const start = (onEvent?: CallOptions['onEvent']) =>
        hub.callDynamic(name, restore(input), {
          ...callOf(messages),
          ...asRequest(hub, toolCallId, run),
          signal,
          ...(isYes ? approveOwnCall('ai-sdk', onEvent) : { onEvent }),
        })
      return progress ? callWithProgress(start) : start()
    },
    toModelOutput: ({ output }) => modelOutput(output),
  }
}

/** The SDK recognises its own schemas by this symbol and uses them as they are; the standard form is for its types. */
function schemaOf(parameters: Record<string, unknown>): StandardSchema {
  const given = () => parameters
  return {
    [Symbol.for('vercel.ai.schema')]: true,
    jsonSchema: parameters,
    validate: undefined,
    '~standard': {
      version: 1,
      vendor: 'tool-hub',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: given, output: given },
    },
  } as StandardSchema
}

interface Part {
  readonly type?: unknown
  readonly toolCallId?: unknown
  readonly toolName?: unknown
  readonly input?: unknown
  readonly approvalId?: unknown
  readonly approved?: unknown
}

/**
 * Whether the user approved exactly this call. The SDK makes an approved call from a history whose last message is the
 * answer; it makes any other call of this tool because no approval was needed.
 */
function isApproved(
  messages: readonly unknown[],
  call: { readonly name: string; readonly toolCallId: string; readonly input: unknown },
): boolean {
  const answers = partsOf(messages.at(-1), 'tool').filter(({ type }) => type === 'tool-approval-response')
  if (answers.length === 0) return false
  const parts = messages.flatMap((message) => partsOf(message, 'assistant'))
  const ofCall = parts.filter(({ toolCallId }) => toolCallId === call.toolCallId)
  const requests = ofCall.filter(({ type }) => type === 'tool-approval-request')
  const answer = answers.find(({ approvalId }) => requests.some((request) => request.approvalId === approvalId))
  const asked = ofCall.findLast(({ type }) => type === 'tool-call')
  return answer?.approved === true && asked?.toolName === call.name && isDeepStrictEqual(asked.input, call.input)
}

function partsOf(message: unknown, role: 'tool' | 'assistant'): readonly Part[] {
  const { role: own, content } = (message ?? {}) as { readonly role?: unknown; readonly content?: unknown }
  return own === role && Array.isArray(content) ? content : []
}

/** Results also come from a client's history, so nothing is taken for granted. */
function modelOutput(output: AiSdkOutput): AiSdkModelOutput {
  if (!Array.isArray(output?.content)) return { type: 'text', value: JSON.stringify(output) ?? '' }
  if ('ok' in output && !output.ok) return { type: 'error-text', value: failureText(output as Failure) }
  const value = output.content.map(partOf)
  if (value.some(({ type }) => type !== 'text')) return { type: 'content', value }
  return { type: 'text', value: output.content.map(textOfBlock).join('\n') }
}

function partOf(block: ContentBlock): AiSdkContentPart {
  if (block.type === 'image') return { type: 'image-data', data: block.data, mediaType: block.mediaType }
  if (block.type === 'audio') return { type: 'file-data', data: block.data, mediaType: block.mediaType }
  if (block.type !== 'resource' || block.data === undefined) return { type: 'text', text: textOfBlock(block) }
  return { type: 'file-data', data: block.data, mediaType: block.mediaType ?? 'application/octet-stream' }
}

/** What an AI SDK agent receives in a session. */
export interface AiSdkJob {
  /** The task, as the agent that started the session wrote it. */
  readonly task: string
  /** The tools of the session, as a tool set. */
  readonly tools: Record<string, AiSdkTool>
  /** Pass it as `abortSignal`. */
  readonly signal: AbortSignal
  /** The session itself, for messages and calls outside the tool set. */
  readonly session: SessionWork
}

/**
 * Runs sessions with an AI SDK agent: its text is the result of the session, and its tools are those of the session.
 * Where policy asks, the approver of the hub is asked.
 * @example
 * const researcher = toAiSdkRunner(
 *   ({ task, tools, signal }) =>
 *     generateText({ model, tools, prompt: task, abortSignal: signal, stopWhen: stepCountIs(20) }),
 *   { tools: ['group:web'] },
 * )
 * const hub = createToolHub({ sessions: { runners: { researcher } } })
 */
export function toAiSdkRunner(
  agent: (job: AiSdkJob) => Promise<{ readonly text: string } | string>,
  options: Omit<CallbackRunner, 'type' | 'run'> & Pick<AiSdkOptions, 'provider'> = {},
): CallbackRunner {
  const { provider, ...runner } = options
  return {
    ...runner,
    async run(session) {
      const { task, signal } = session
      const tools = toolSet(callerOf(session), { provider, progress: false })
      const result = await agent({ task, tools, signal, session })
      return typeof result === 'string' ? result : result.text
    },
  }
}

/** The calls of a session, in the form of the hub. Its prompt is its task, which an agent may have written: no user text. */
function callerOf({ tools, call }: SessionWork): ToolCaller {
  const cards = tools.map((tool) => ({ ...tool, tool: tool.name, capabilities: [] }))
  const callDynamic: ToolCaller['callDynamic'] = (tool, input, options) =>
    call(tool, input, { signal: options?.signal })
  return { cards: () => cards, callDynamic }
}

/**
 * For the SDK's `experimental_repairToolCall`: the SDK itself answers calls of unknown tools and calls whose arguments
 * are not JSON; this puts them on record. Repairs nothing, runs nothing.
 * @example
 * generateText({ model, tools: toAiSdk(hub), experimental_repairToolCall: recordRefusedCalls(hub), messages })
 */
export function recordRefusedCalls(hub: Hub, who: Pick<AdapterOptions, 'run' | 'session' | 'caller'> = {}) {
  return async ({ toolCall }: { readonly toolCall: { readonly toolName: string; readonly input: string } }) => {
    const args = parseArguments(toolCall.input)
    const { run, session, caller } = who
    const options = { run, session, caller, dryRun: true }
    await hub.callDynamic(toolCall.toolName, 'value' in args ? args.value : NO_JSON, options)
    return null
  }
}
