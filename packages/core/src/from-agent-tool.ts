import type { Content } from './call.ts'
import { ToolError } from './errors.ts'
import { toolFailure } from './failures.ts'
import type { JsonSchema } from './schema/schema.ts'
import { type AnyTool, type BaseContext, type Capability, defineTool, type Targets } from './tool.ts'

/** The result of an AgentTool: content blocks for the model, details for the program. */
export interface AgentToolResult<T = unknown> {
  /** What the model gets. */
  readonly content: ReadonlyArray<
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  >
  /** For the program; no model sees it. */
  readonly details?: T
}

/** An AgentTool: TypeBox parameters, a call id, a signal, updates. */
export interface AgentTool<P = unknown, T = unknown> {
  /**
   * Becomes the canonical name, so it must be a tool name: letters, digits, `_` and `-` in parts joined by `/` or `.`.
   */
  readonly name: string
  /** A short name for people. */
  readonly label?: string
  /** When to use it, for the model. */
  readonly description: string
  /** JSON Schema of the arguments, or one that TypeBox built. */
  readonly parameters: JsonSchema
  /** Does the work; what it throws is a failed call for the model. */
  execute(
    toolCallId: string,
    params: P,
    signal?: AbortSignal,
    onUpdate?: AgentToolUpdateCallback<T>,
  ): Promise<AgentToolResult<T>>
}

/** Receives what an AgentTool reports while it works. */
export type AgentToolUpdateCallback<T = unknown> = (update: AgentToolResult<T>) => void

/** An AgentTool with any parameters and details. */
// biome-ignore lint/suspicious/noExplicitAny: a list has tools of different parameters
export type AnyAgentTool = AgentTool<any, any>

/** What an AgentTool cannot declare and policy needs: what the tool touches. */
export interface Governance<P> {
  /** What the tool touches. Default: `['exec']`, which policy denies until a rule allows it. */
  readonly capabilities?: readonly Capability[]
  /** What a call will touch, by capability; policy decides on it. Default: judged without a target. */
  readonly targets?: (params: P) => Targets
}

/**
 * Converts an AgentTool. It does not declare what it touches, so unless you do, it counts as able to run
 * commands: policy denies it until a rule of yours allows it.
 * @example
 * const read = fromAgentTool(tool, { capabilities: ['read:fs'], targets: ({ path }) => ({ 'read:fs': path }) })
 * const hub = createToolHub({ tools: [read] })
 */
// biome-ignore lint/suspicious/noExplicitAny: the parameters' type is the author's; they are validated by their schema
export function fromAgentTool<P = any>(tool: AgentTool<P>, governance: Governance<P> = {}): AnyTool {
  const { capabilities = ['exec'], targets } = governance
  return defineTool({
    name: tool.name,
    kind: 'agent-tool',
    title: tool.label ?? tool.name,
    description: tool.description,
    input: tool.parameters,
    capabilities,
    targets: targets as ((params: unknown) => Targets) | undefined,
    async execute(params: unknown, ctx: BaseContext) {
      const update = ({ content }: AgentToolResult) => ctx.progress(contentOf(content))
      const result = await attempt(tool.name, () => tool.execute(ctx.callId, params as P, ctx.signal, update))
      if (!Array.isArray(result?.content)) {
        throw new ToolError('OUTPUT_SCHEMA_INVALID', `${tool.name} returned no content blocks.`, {
          hint: 'Return { content: [{ type: "text", text }], details }.',
        })
      }
      return { content: result.content, details: result.details ?? null }
    },
    toModel: ({ content }) => contentOf(content),
  })
}

async function attempt<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw toolFailure(name, thrown)
  }
}

function contentOf(content: AgentToolResult['content']): Content {
  return content.map((block) =>
    block.type === 'image' ? { type: 'image', data: block.data, mediaType: block.mimeType } : block,
  )
}
