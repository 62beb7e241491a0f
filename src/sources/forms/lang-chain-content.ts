import type { ContentBlock } from '../../result.ts'
import { mediaBlock } from './media-block.ts'
import { showValue } from './show-value.ts'

type Block = Readonly<Record<string, unknown>>

/** The content of a LangChain message as blocks: a text, or its blocks of either generation; anything else as JSON. */
export function langChainContent(content: unknown): readonly ContentBlock[] {
  if (Array.isArray(content) && content.every(isBlock)) return content.map(toBlock)
  return [{ type: 'text', text: typeof content === 'string' ? content : (JSON.stringify(content) ?? '') }]
}

function isBlock(block: unknown): block is Block {
  return typeof block === 'object' && block !== null && 'type' in block && typeof block.type === 'string'
}

function toBlock(block: Block): ContentBlock {
  const { type, text, data, image_url: image } = block
  const isText = type === 'text' || type === 'text-plain' || block.source_type === 'text'
  if (isText && typeof text === 'string') return { type: 'text', text }
  if (type === 'image_url') return imageAt(image) ?? asJson(block)
  const mediaType = block.mimeType ?? block.mime_type
  return mediaBlock({ data, url: block.url, mediaType, name: nameOf(block) }) ?? asJson(block)
}

function imageAt(image: unknown): ContentBlock | undefined {
  const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : image
  return mediaBlock({ url })
}

function nameOf({ metadata }: Block): unknown {
  return isRecord(metadata) ? (metadata.filename ?? metadata.name) : undefined
}

function isRecord(value: unknown): value is Block {
  return typeof value === 'object' && value !== null
}

/** A kind of block that only its own framework knows. */
function asJson(block: Block): ContentBlock {
  return { type: 'text', text: showValue(block) }
}
