import type { CallToolResult } from '@modelcontextprotocol/client'
import { type AnyTool, type BaseContext, type Capability, defineTool } from '../../define.ts'
import { messageOf, ToolError } from '../../errors.ts'
import type { McpServer } from '../../options.ts'
import { compileSchema } from '../../schema/compile-schema.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { cleanSchema, cleanTexts } from './clean-definition.ts'
import type { Definition, JsonObject, LeftOut } from './definition.ts'
import { repairInput } from './repair-input.ts'
import { type AnswerData, settleAnswer } from './settle-answer.ts'

/** What a tool of a server is made of. */
export interface ToolParts {
  /** In the hub. */
  readonly name: string
  readonly serverName: string
  readonly server: McpServer
  /** As its server describes it now. */
  readonly definition: Definition
  /** What models see instead, while the owner has not accepted the definition. */
  readonly shown?: Definition | undefined
  /** What changed in it since it was first seen. */
  readonly drift: string | undefined
  /** Gives the same object for the same schema, which then is compiled once. */
  readonly share: (schema: JsonObject) => JsonObject
  readonly call: (definition: Definition, input: unknown, ctx: BaseContext) => Promise<CallToolResult>
}

/** A tool of a server as one of a hub; what it says of itself counts only where the owner trusts the server. */
export async function toTool(parts: ToolParts): Promise<AnyTool | LeftOut> {
  const { name, serverName, server, definition, shown = definition, share, call } = parts
  const { tool } = definition
  const repaired = repairInput(shown.input)
  if (!repaired) return { tool, why: 'its arguments are no object' }
  const input = share(cleanSchema(repaired))
  const output = shown.output && share(cleanSchema(shown.output))
  const why = (await whyUnusable(input, 'input')) ?? (output && (await whyUnusable(output, 'output')))
  if (why !== undefined) return { tool, why }
  const { title, description, hidden } = cleanTexts(shown)
  const doubts = [hidden ?? cleanTexts(definition).hidden, parts.drift].filter((doubt) => doubt !== undefined)
  const target = `mcp:${serverName}/${tool}`
  return defineTool({
    name,
    kind: 'mcp',
    title,
    description: description.trim() === '' ? `The tool ${tool} of the MCP server ${serverName}.` : description,
    input,
    ...(output && { output }),
    ...rightsOf([shown.annotations, definition.annotations], target, server.trust === true),
    // Not `group:<server>`: a server that is called `fs` has nothing to do with files of the sandbox.
    group: 'mcp',
    category: 'mcp',
    tags: [`mcp:${serverName}`],
    timeoutMs: server.timeoutMs,
    ...(doubts.length > 0 && { doubt: doubts.join('\n') }),
    execute: async (given: unknown, ctx: BaseContext) => {
      if (shown !== definition && !(await fits(given, definition))) throw unfit(serverName, tool)
      const answer = await call(definition, given, ctx)
      return settleAnswer(answer, { target, hasOutput: output !== undefined }, ctx)
    },
    toModel: (data: unknown) => (output ? JSON.stringify(data) : (data as AnswerData).content),
  }) as AnyTool
}

/** Whether something could not be made a tool. */
export function isLeftOut(made: AnyTool | LeftOut): made is LeftOut {
  return 'why' in made
}

/** Pessimistic, unless the owner believes the server; then by the worse of what it says now and what it said before. */
function rightsOf(annotations: readonly JsonObject[], target: string, isTrusted: boolean) {
  const isDestructive = isTrusted && annotations.some(({ destructiveHint }) => destructiveHint === true)
  const isReadOnly = annotations.every(({ readOnlyHint }) => readOnlyHint === true)
  if (isTrusted && isReadOnly && !isDestructive) {
    return { capabilities: ['remote'] as const, targets: () => ({ remote: [] }) }
  }
  const capabilities: readonly Capability[] = isDestructive ? ['remote', 'danger:destructive'] : ['remote']
  const targets = Object.fromEntries(capabilities.map((capability) => [capability, target]))
  return { capabilities, targets: () => targets }
}

/** How the check of a schema begins to say that it did not come to an end. */
export const UNCHECKED = 'could not be checked'

/** The first value compiles a schema, which a broken one does not survive. */
async function whyUnusable(schema: JsonObject, side: 'input' | 'output'): Promise<string | undefined> {
  try {
    const checked = await compileSchema(schema, { side }).validate({})
    // An empty object is checked at once, unless the schema is made so that nothing ever is.
    const endless = checked.ok ? undefined : checked.issues.find(({ message }) => message.startsWith(UNCHECKED))
    return endless && `its ${side} schema ${endless.message}`
  } catch (error) {
    return messageOf(error)
  }
}

/** Whether arguments that the pinned schema takes are also what the server takes now. */
async function fits(given: unknown, { input }: Definition): Promise<boolean> {
  const schema = repairInput(input)
  if (!schema) return false
  try {
    return (await compileSchema(schema, { side: 'input' }).validate(given)).ok
  } catch {
    // A schema that cannot be used takes nothing.
    return false
  }
}

/** Without a word of the new schema: nobody has accepted what it says. */
function unfit(server: string, tool: string): ToolError {
  const name = JSON.stringify(escapeLine(tool.slice(0, 80)))
  return new ToolError('CONFLICT', `${server} changed the arguments of the tool ${name}; these do not fit any more.`, {
    hint: `It was not called. The owner looks at the change with \`tool-hub mcp test ${server}\` and accepts it with \`tool-hub mcp pin ${server}\`.`,
  })
}
