import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock, Failure, Success, ToolResult } from '../../../result.ts'
import { isPlainObject } from '../../../value/is-plain-object.ts'
import { isLarger, shortenData } from './shorten-data.ts'

/** What is known of the tool and the client. */
export interface ResultPlace {
  /** What the tool says of its data; undefined for one whose results have none. */
  readonly schema: object | undefined
  /** Makes an artifact known to the client; gives back its address. */
  readonly uriOf: (artifact: Artifact) => string
}

const MOST_DATA_CHARS = 1_000_000
const LEAST_DATA_CHARS = 2_000

/**
 * The result of a call in MCP's words; its artifacts are links that resources/read follows.
 *
 * Clients show a model the text or the data, so one limit holds for both: where the hub cut the text, the data may have
 * twice as many characters as what is left, and its longest texts are cut; the whole text is the artifact that is linked.
 * A tool of which the text fits has said what a model needs of it: its data stays whole up to 1,000,000 characters. Data
 * is never left out, since clients refuse the result of a tool that promises it.
 */
export function toCallResult(
  result: ToolResult,
  { schema, uriOf }: ResultPlace,
): CallToolResult | Promise<CallToolResult> {
  const content = result.content.map(toMcpBlock)
  for (const artifact of result.artifacts) content.push(toLink(artifact, uriOf(artifact)))
  if (!result.ok) return { content: withReason(content, result), isError: true }
  const { data } = result
  if (!schema || !isPlainObject(data)) return { content }
  const mostChars = mostDataChars(result)
  if (!isLarger(data, mostChars)) return { content, structuredContent: data }
  const bounds = { mostChars, schema, where: whereWhole(result, uriOf) }
  return shortenData(data, bounds).then((short) => ({
    content,
    structuredContent: short as CallToolResult['structuredContent'],
  }))
}

function mostDataChars({ meta, content }: Success): number {
  if (!meta.truncated) return MOST_DATA_CHARS
  const shown = content.reduce((sum, block) => sum + (block.type === 'text' ? block.text.length : 0), 0)
  return Math.max(LEAST_DATA_CHARS, shown * 2)
}

function whereWhole({ meta, artifacts }: Success, uriOf: ResultPlace['uriOf']): string | undefined {
  const whole = artifacts.find(({ ref }) => ref === meta.truncated?.artifact)
  return whole && uriOf(whole)
}

function toMcpBlock(block: ContentBlock): McpBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, data: block.data, mimeType: block.mediaType }
    case 'resource':
      return { type: 'resource', resource: toResource(block) }
    case 'resource-link': {
      const { uri, name, title, description, mediaType, bytes } = block
      return { type: 'resource_link', uri, name, title, description, mimeType: mediaType, size: bytes }
    }
  }
}

function toResource({ uri, mediaType, text, data }: Extract<ContentBlock, { type: 'resource' }>) {
  const mimeType = mediaType === undefined ? {} : { mimeType: mediaType }
  return data === undefined ? { uri, ...mimeType, text: text ?? '' } : { uri, ...mimeType, blob: data }
}

function toLink({ name, bytes, mediaType }: Artifact, uri: string): McpBlock {
  return { type: 'resource_link', uri, name, mimeType: mediaType, size: bytes }
}

/** A call that failed may have something to show nevertheless; why it failed comes first. */
function withReason(content: McpBlock[], { error }: Failure): McpBlock[] {
  const reason = `${error.code}: ${error.message} ${error.fix.hint}`
  const [first] = content
  if (first?.type === 'text' && first.text.startsWith(`${error.code}: `)) return content
  return [{ type: 'text', text: reason }, ...content]
}
