import { generateText, type LanguageModel, streamText, type ToolSet } from 'ai'
import type { ToolResult } from '../../core/src/call.ts'
import type { Hub } from '../../runtime/src/hub/hub.ts'
import { type AiSdkOutput, type AiSdkTool, toAiSdk } from './ai-sdk.ts'
import type { CallProgress } from './model-calls.ts'

type Equal<A, B> = (<X>() => X extends A ? 1 : 2) extends <X>() => X extends B ? 1 : 2 ? true : false
function is<T extends true>(_?: T): void {}

/** Checked by the compiler: the tools fit the SDK's own types, alone and beside others. */
export async function fits(hub: Hub, model: LanguageModel, others: ToolSet): Promise<void> {
  const tools: ToolSet = toAiSdk(hub)
  await generateText({ model, tools, prompt: '' })
  await generateText({ model, tools: toAiSdk(hub, { names: ['math.add'], approvals: 'hub' }), prompt: '' })
  streamText({ model, tools: { ...others, ...toAiSdk(hub) }, prompt: '' })
  is<Equal<AiSdkOutput, ToolResult | CallProgress>>()
  // @ts-expect-error this way to approve does not exist
  toAiSdk(hub, { approvals: 'always' })
}

/** The tool of AI SDK 7, as far as a tool of ours has to fit it. */
interface Tool7<Output> {
  type: 'dynamic'
  title?: string
  description?: string | ((options: { context: unknown }) => string)
  inputSchema: {
    readonly '~standard': {
      readonly version: 1
      readonly vendor: string
      readonly validate: (value: unknown, options?: object) => unknown
    }
  }
  needsApproval?:
    | boolean
    | ((
        input: unknown,
        options: { toolCallId: string; messages: object[]; context: unknown },
      ) => boolean | PromiseLike<boolean>)
  execute: (
    input: unknown,
    options: { toolCallId: string; messages: object[]; abortSignal?: AbortSignal; context: unknown },
  ) => AsyncIterable<Output> | PromiseLike<Output> | Output
  toModelOutput?: (options: {
    toolCallId: string
    input: unknown
    output: Output
  }) => ModelOutput7 | PromiseLike<ModelOutput7>
  id?: never
  args?: never
}

type ModelOutput7 =
  | { type: 'text' | 'error-text'; value: string; providerOptions?: object }
  | { type: 'json' | 'error-json'; value: unknown; providerOptions?: object }
  | { type: 'execution-denied'; reason?: string; providerOptions?: object }
  | {
      type: 'content'
      value: (
        | { type: 'text'; text: string; providerOptions?: object }
        | { type: 'file'; data: object; mediaType: string; filename?: string; providerOptions?: object }
        | { type: 'file-data' | 'image-data'; data: string; mediaType: string; providerOptions?: object }
        | { type: 'custom'; providerOptions?: object }
      )[]
    }

/** Checked by the compiler: version 7 takes them too. */
export function fitsVersion7(tool: AiSdkTool): Tool7<AiSdkOutput> {
  return tool
}
