import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server'
import type { Artifact, ContentBlock, Failure, ToolResult } from '../../../result.ts'
import { isPlainObject } from '../../../value/is-plain-object.ts'

/** The result of a call in MCP's words; its artifacts are links that resources/read follows. */
export function toCallResult(
  result: ToolResult,
  { isStructured, uriOf }: { readonly isStructured: boolean; readonly uriOf: (artifact: Artifact) => string },
): CallToolResult {
  const content = result.content.map(toMcpBlock)
  for (const artifact of result.artifacts) content.push(toLink(artifact, uriOf(artifact)))
  if (!result.ok) return { content: withReason(content, result), isError: true }
  if (!isStructured || !isPlainObject(result.data)) return { content }
  return { content, structuredContent: result.data }
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
