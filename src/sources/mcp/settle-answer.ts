import type { CallToolResult } from '@modelcontextprotocol/client'
import type { BaseContext } from '../../define.ts'
import { ToolError } from '../../errors.ts'
import type { ContentBlock } from '../../result.ts'
import { mcpContent } from '../mcp-content.ts'
import { isDeeperThan } from './is-deeper-than.ts'
import { DEEPEST_ANSWER } from './limits.ts'
import { textOf } from './text-of.ts'

const ERROR_CHARS = 4_000

/** What a tool without an output schema gives back. */
export interface AnswerData {
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
}

/**
 * The data of an answer: what the server says has the form it promised, or else its blocks. An answer that says it is
 * an error becomes one, with the text that a model can correct itself by.
 */
export async function settleAnswer(
  answer: CallToolResult,
  { target, hasOutput }: { readonly target: string; readonly hasOutput: boolean },
  ctx: BaseContext,
): Promise<unknown> {
  const { structuredContent, isError } = answer
  if (isDeeperThan(structuredContent, DEEPEST_ANSWER)) {
    throw new ToolError('UPSTREAM_ERROR', `The answer of ${target} is over ${DEEPEST_ANSWER} levels deep.`, {
      retryable: false,
    })
  }
  const content = mcpContent(answer.content)
  const data: AnswerData = { content, structuredContent }
  if (isError) throw failed(target, data, hasOutput)
  if (!hasOutput) return data
  if (structuredContent === undefined) throw unstructured(target)
  await keepOthers(content, ctx)
  return structuredContent
}

/** Beside data that has a form there is no room for pictures and the like in a result, so they become artifacts. */
async function keepOthers(content: readonly ContentBlock[], ctx: BaseContext): Promise<void> {
  for (const block of content) {
    if (block.type === 'text') continue
    const what = block.type === 'resource-link' ? 'a link' : `a block of the type ${block.type}`
    ctx.notice(`The answer came with ${what}: ${await keep(block, ctx)}`)
  }
}

async function keep(block: ContentBlock, ctx: BaseContext): Promise<string> {
  try {
    if (!('data' in block) || block.data === undefined) {
      const text = 'text' in block && block.text !== undefined ? block.text : JSON.stringify(block)
      return (await ctx.artifact(text, { mediaType: 'text/plain' })).ref
    }
    const { mediaType = 'application/octet-stream' } = block
    return (await ctx.artifact(Buffer.from(block.data, 'base64'), { mediaType })).ref
  } catch (error) {
    // The answer itself is whole.
    if (ToolError.is(error)) return `it could not be kept, ${error.message}`
    throw error
  }
}

function failed(target: string, data: AnswerData, hasOutput: boolean): ToolError {
  const text = textOf(data.content).trim().slice(0, ERROR_CHARS)
  return new ToolError('EXEC_FAILED', text === '' ? `${target} failed and does not say why.` : text, {
    hint: 'Read the message of the server; correct the arguments, or use another tool.',
    // Data of a failure has the form of the output too, which a server need not keep to then.
    ...(!hasOutput && data.content.length > 0 && { data }),
  })
}

function unstructured(target: string): ToolError {
  const message = `${target} promises data of a certain form and answered without.`
  return new ToolError('OUTPUT_SCHEMA_INVALID', message, { hint: 'Report it to the author of the server.' })
}
