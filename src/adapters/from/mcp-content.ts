import type { ContentBlock } from '../../core/result.ts'
import { showValue } from './show-value.ts'

type Block = Readonly<Record<string, unknown>>

/** Content blocks of an MCP result as ours; what this version does not know stays readable as JSON. */
export function mcpContent(content: unknown): readonly ContentBlock[] {
  return Array.isArray(content) ? content.map(toBlock) : []
}

function toBlock(given: unknown): ContentBlock {
  const block = isRecord(given) ? given : {}
  return known(block) ?? { type: 'text', text: showValue(given) }
}

function known({ type, text, data, mimeType, resource, ...others }: Block): ContentBlock | undefined {
  if (type === 'text' && typeof text === 'string') return { type, text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string' && typeof mimeType === 'string') {
    return { type, data, mediaType: mimeType }
  }
  if (type === 'resource' && isRecord(resource)) return document(resource)
  if (type === 'resource_link') return link({ ...others, mimeType })
  return undefined
}

function document({ uri, mimeType, text, blob }: Block): ContentBlock | undefined {
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource',
    uri,
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...(typeof text === 'string' && { text }),
    ...(typeof blob === 'string' && { data: blob }),
  }
}

function link({ uri, name, title, description, mimeType, size }: Block): ContentBlock | undefined {
  if (typeof uri !== 'string') return undefined
  return {
    type: 'resource-link',
    uri,
    name: typeof name === 'string' ? name : uri,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(typeof mimeType === 'string' && { mediaType: mimeType }),
    ...(typeof size === 'number' && { bytes: size }),
  }
}

function isRecord(value: unknown): value is Block {
  return typeof value === 'object' && value !== null
}
