import type { CallToolResult } from '@modelcontextprotocol/client'
import type { ContentBlock } from '../../result.ts'

/** What a server answered with, as blocks of a hub. */
export function toContent(content: CallToolResult['content'] = []): readonly ContentBlock[] {
  return content.map(toBlock)
}

/** The text among blocks, for messages. */
export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

function toBlock(block: CallToolResult['content'][number]): ContentBlock {
  if (block.type === 'text') return { type: 'text', text: block.text }
  if (block.type === 'image' || block.type === 'audio') {
    return { type: block.type, data: block.data, mediaType: block.mimeType }
  }
  if (block.type === 'resource') {
    const { uri, mimeType, ...resource } = block.resource
    const content = 'text' in resource ? { text: resource.text } : { data: resource.blob }
    return { type: 'resource', uri, ...(mimeType !== undefined && { mediaType: mimeType }), ...content }
  }
  const { uri, name, title, description, mimeType, size } = block
  return {
    type: 'resource-link',
    uri,
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...(size !== undefined && { bytes: size }),
  }
}
