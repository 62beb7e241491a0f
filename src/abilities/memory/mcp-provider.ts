import { z } from 'zod'
import type { McpMemory, McpMemoryTool } from '../../contracts/memory.ts'
import type { MemoryProvider, ProviderNote, ProviderUse } from '../../contracts/memory-provider.ts'
import { ToolError } from '../../errors.ts'
import type { ToolResult } from '../../result.ts'
import { parseJson } from '../../value/parse-json.ts'

const LONGEST_TEXT = 200_000

const found = z.object({ notes: z.array(z.unknown()).max(1_000) })
const content = z.object({ content: z.array(z.unknown()), structuredContent: z.unknown().optional() })
const textBlock = z.object({ type: z.literal('text'), text: z.string() })
const written = z.object({ id: z.string().min(1) })
const forgotten = z.object({ forgotten: z.boolean() })

/** Tools of an MCP server, called down the road: policy, records and limits hold for each. */
export function createMcpProvider({ mcp }: McpMemory): MemoryProvider {
  const { server } = mcp
  const ask = async (tool: string | McpMemoryTool, wish: Readonly<Record<string, unknown>>, use: ProviderUse) => {
    const { tool: name, arguments: names } = typeof tool === 'string' ? { tool, arguments: undefined } : tool
    return answerOf(await use.call(`mcp/${server}.${name}`, named(wish, names)), server)
  }
  const { recall, write, update, forget } = mcp
  return {
    name: `mcp:${server}`,
    async recall({ query, keys, limit, tags }, use) {
      const wish = { query, scopes: keys, limit, ...(tags.length > 0 && { tags }) }
      return toNotes(await ask(recall, wish, use))
    },
    ...(write !== undefined && {
      async write({ id, key, content, tags }, use) {
        const answer = written.safeParse((await ask(write, { id, scope: key, content, tags }, use)).data)
        return { id: answer.success ? answer.data.id : id }
      },
    }),
    ...(update !== undefined && {
      async update({ id, key, content, tags }, use) {
        const changed = { ...(content !== undefined && { content }), ...(tags && { tags }) }
        await ask(update, { id, scope: key, ...changed }, use)
      },
    }),
    ...(forget !== undefined && {
      async forget({ id, key }, use) {
        const answer = forgotten.safeParse((await ask(forget, { id, scope: key }, use)).data)
        // A server that does not say has done what it was told, or had failed.
        return answer.success ? answer.data.forgotten : true
      },
    }),
  } satisfies MemoryProvider
}

interface Answer {
  /** What it says in a form. */
  readonly data: unknown
  readonly text: string
}

/** By their names where those are told; what has none there is not sent. */
function named(wish: Readonly<Record<string, unknown>>, names: McpMemoryTool['arguments']): Record<string, unknown> {
  if (!names) return { ...wish }
  return Object.fromEntries(
    Object.entries(wish).flatMap(([name, value]) => (Object.hasOwn(names, name) ? [[names[name]!, value]] : [])),
  )
}

function answerOf(result: ToolResult, server: string): Answer {
  if (!result.ok) {
    const { code, message, fix, retryable } = result.error
    throw new ToolError(code, `The memory mcp:${server} failed: ${message}`, { fix, retryable })
  }
  const blocks = content.safeParse(result.data)
  if (!blocks.success) return { data: result.data, text: '' }
  const text = blocks.data.content
    .flatMap((block) => {
      const parsed = textBlock.safeParse(block)
      return parsed.success ? [parsed.data.text] : []
    })
    .join('\n')
    .slice(0, LONGEST_TEXT)
  return { data: blocks.data.structuredContent ?? parseJson(text), text }
}

/** Notes where it gives some; else its text is one, as servers of other protocols answer. */
function toNotes({ data, text }: Answer): readonly ProviderNote[] {
  const parsed = found.safeParse(data)
  if (parsed.success) return parsed.data.notes as readonly ProviderNote[]
  if (Array.isArray(data)) return data as readonly ProviderNote[]
  const whole = text === '' ? JSON.stringify(data ?? '') : text
  return whole.trim() === '' || whole === '""' ? [] : [{ id: 'answer', content: whole }]
}
