import { type CallOptions, type ContentBlock, type ToolCard, type ToolResult, textOfBlock } from '@tool-hub/core'
import { hashJson } from '@tool-hub/core/lib'
import type { Hub } from '@tool-hub/runtime/hub'
import { z } from 'zod'
import { approveOwnCall, failureText, userTextOf } from './model-calls.ts'
import { type AdapterOptions, asRequest, chooseCards, shownSchema } from './model-tools.ts'
import type { Provider } from './schema/for-provider.ts'

/** Options of `toLangChain`, with the two LangChain classes that the tools are made of. */
export interface LangChainOptions<T, M extends object = object> extends AdapterOptions {
  /** The class of `@langchain/core/tools`; the package is not imported here. */
  readonly DynamicStructuredTool: new (
    fields: LangChainFields,
  ) => T
  /** The class of `@langchain/core/messages`. */
  readonly ToolMessage: new (
    fields: LangChainMessageFields,
  ) => M
  /** Convert the parameters for this provider. Default: as the tools declare them. */
  readonly provider?: Provider
  /**
   * LangGraph's `interrupt`: where policy asks, the graph stops with a question. Default: the hub's approver is asked.
   */
  readonly interrupt?: (question: LangChainQuestion) => unknown
  /**
   * `false`: the texts of human messages in the state of the graph are not passed as `userText`, because others write as
   * the user: documents that were searched for, or another agent. Default: true.
   */
  readonly userText?: boolean
}

/** What `interrupt` shows. The graph continues with `new Command({ resume: { id, decision: 'allow' } })`. */
export interface LangChainQuestion {
  /**
   * Id of exactly this call with this input. The answer repeats it: LangGraph matches answers by order, and calls run
   * concurrently.
   */
  readonly id: string
  /** LangChain's id of the call; `undefined` when the tool was invoked without one. */
  readonly toolCallId: string | undefined
  /** Canonical name of the tool. */
  readonly tool: string
  /** The arguments, as the model wrote them. */
  readonly input: unknown
  /** Why the rule asks. */
  readonly reason: string
  /** The full explanation of the policy, for people; several lines. */
  readonly text: string
}

/** What a `DynamicStructuredTool` is made of, by shape. */
export interface LangChainFields {
  /** The name that the model calls. */
  name: string
  /** When to use it, for the model. */
  description: string
  /** Accepts any value and shows the tool's JSON Schema; the hub validates. */
  schema: z.ZodAny
  /** `func` returns a pair: one value for the model, one for the program. */
  responseFormat: 'content_and_artifact'
  /** Calls the tool through the hub. */
  func: (
    input: unknown,
    runManager?: { readonly handleToolEvent?: (chunk: unknown) => unknown },
    config?: {
      /** Stops the call. */
      readonly signal?: AbortSignal
      /** The call as the model made it. */
      readonly toolCall?: { readonly id?: string }
      /** The state of the graph, where LangGraph makes the call. */
      readonly state?: unknown
    },
  ) => Promise<unknown>
}

/** What a `ToolMessage` is made of, by shape. */
export interface LangChainMessageFields {
  status: 'error'
  /** The name that the model called. */
  name: string
  /** LangChain's id of the call. */
  tool_call_id: string
  /** Why the call failed and what to do next, for the model. */
  content: string
  /** The whole result; `undefined` when the call never reached the hub. */
  artifact: ToolResult | undefined
}

/** A call as a chat model of LangChain makes it. */
export interface LangChainCall {
  readonly type: 'tool_call'
  /** The name that the model called. */
  readonly name: string
  /** The arguments. */
  readonly args: Readonly<Record<string, unknown>>
  /** LangChain's id of the call. */
  readonly id?: string
}

/** A tool of LangChain. Invoked with a call of a model, it returns a message. */
export type LangChainModelTool<T, M extends object> = {
  /** Makes the call and returns the message that answers it. */
  invoke(call: LangChainCall, config?: object): Promise<M>
} & T

type LangChainBlock =
  | { type: 'text'; text: string }
  | {
      type: 'image' | 'audio' | 'file'
      data: string
      mimeType: string
      source_type: 'base64'
      mime_type: string
    }

/**
 * Returns the visible tools for `model.bindTools` and LangGraph's `ToolNode`; every call goes through the pipeline.
 * The list is a snapshot. A `ToolMessage` carries the whole result as its artifact, and has the status `error` if the
 * call failed. A call that the user refuses never reaches the hub and its records. The hub validates the arguments.
 * @example
 * const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage })
 * const agent = createAgent({ model, tools })
 */
export function toLangChain<T, M extends object>(
  hub: Hub,
  options: LangChainOptions<T, M>,
): LangChainModelTool<T, M>[] {
  // `invoke` of the class does the same; its type is lost, because the hub has no static types of the arguments.
  return chooseCards(hub, options).map(
    (card) => new options.DynamicStructuredTool(fieldsOf(hub, card, options)) as LangChainModelTool<T, M>,
  )
}

function fieldsOf(
  hub: Hub,
  card: ToolCard,
  options: Omit<LangChainOptions<unknown>, 'DynamicStructuredTool'>,
): LangChainFields {
  const { name, description } = card
  const { run, session, caller, provider, ToolMessage, interrupt, userText: passesText = true } = options
  const { schema, restore } = shownSchema(card, provider)
  return {
    name,
    description,
    schema: schemaOf(schema),
    responseFormat: 'content_and_artifact',
    async func(args, runManager, config) {
      const input = restore(args)
      const { signal, toolCall, state } = config ?? {}
      const said = passesText ? userTextOf((state as { messages?: unknown } | null | undefined)?.messages) : []
      const who = { run, session, caller }
      const fail = (content: string, artifact?: ToolResult) => {
        if (toolCall?.id === undefined) return [content, artifact]
        return [new ToolMessage({ status: 'error', name, tool_call_id: toolCall.id, content, artifact }), artifact]
      }
      if (interrupt && said.length > 0) await hub.addUserText(said, { run })
      const answer = interrupt && (await askThrough(interrupt, hub, card, { input, toolCallId: toolCall?.id, who }))
      if (answer?.decision === 'deny') return fail(`The user refused this call: ${answer.reason ?? 'no reason given'}.`)
      const onEvent: CallOptions['onEvent'] = (event) => {
        if (event.type !== 'call-progressed') return
        // A failing listener does not fail the call.
        Promise.resolve()
          .then(() => runManager?.handleToolEvent?.(event.content))
          .catch(() => {})
      }
      const result = await hub.callDynamic(name, input, {
        ...who,
        ...asRequest(hub, toolCall?.id, run),
        signal,
        userText: said,
        ...(answer ? approveOwnCall('langgraph', onEvent) : { onEvent }),
      })
      signal?.throwIfAborted()
      return result.ok ? [contentOf(result.content), result] : fail(failureText(result), result)
    },
  }
}

const Answer = z.object({
  id: z.string(),
  decision: z.enum(['allow', 'deny']),
  reason: z.string().optional(),
})

/**
 * Stops the graph with a question (by throwing), or returns the answer when the graph continues. Anything but a valid
 * answer is a no.
 */
async function askThrough(
  interrupt: (question: LangChainQuestion) => unknown,
  hub: Hub,
  { name, tool }: ToolCard,
  call: { readonly input: unknown; readonly toolCallId: string | undefined; readonly who: CallOptions },
): Promise<z.infer<typeof Answer> | undefined> {
  const { input, toolCallId, who } = call
  const { effect, reason, text, remembered } = await hub.explain(name, input, who)
  if (effect !== 'ask' || remembered) return undefined
  const id = hashJson({ name, input, toolCallId: toolCallId ?? null })
  const answer = Answer.safeParse(interrupt({ id, toolCallId, tool, input, reason, text }))
  if (answer.data?.id === id) return answer.data
  return { id, decision: 'deny', reason: 'the graph continued without answering this call' }
}

/**
 * Accepts anything and shows the schema of the card: LangChain would create its own check for each call, and its
 * errors would not be recorded.
 */
function schemaOf(parameters: Record<string, unknown>): z.ZodAny {
  const schema = z.any()
  schema._zod.toJSONSchema = () => structuredClone(parameters)
  return schema
}

function contentOf(content: readonly ContentBlock[]): string | LangChainBlock[] {
  const blocks = content.map(blockOf)
  return blocks.some(({ type }) => type !== 'text') ? blocks : content.map(textOfBlock).join('\n')
}

function blockOf(block: ContentBlock): LangChainBlock {
  if (block.type === 'image' || block.type === 'audio') return dataBlock(block.type, block.data, block.mediaType)
  if (block.type !== 'resource' || block.data === undefined) return { type: 'text', text: textOfBlock(block) }
  return dataBlock('file', block.data, block.mediaType ?? 'application/octet-stream')
}

/** The block format of LangChain 1, and the older one that most model packages still read in tool messages. */
function dataBlock(type: 'image' | 'audio' | 'file', data: string, mediaType: string): LangChainBlock {
  return { type, data, mimeType: mediaType, source_type: 'base64', mime_type: mediaType }
}
