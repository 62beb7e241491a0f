import { ToolError } from '../../errors.ts'
import type { ContentBlock } from '../../result.ts'
import { mediaBlock } from './media-block.ts'
import { showValue } from './show-value.ts'

interface Part {
  readonly type?: string
  readonly [key: string]: unknown
}

/** What `toModelOutput` of an AI SDK tool made for the model, as blocks; what it calls an error is thrown. */
export function aiSdkContent(output: unknown, data: unknown): readonly ContentBlock[] {
  const { type, value, reason } = (output ?? {}) as Part
  switch (type) {
    case 'text':
    case 'json':
      return [{ type: 'text', text: typeof value === 'string' ? value : (JSON.stringify(value) ?? '') }]
    case 'content':
      return Array.isArray(value) ? value.map(toBlock) : []
    case 'error-text':
    case 'error-json':
      throw new ToolError('TOOL_FAILED', showValue(value), { data })
    case 'execution-denied':
      throw new ToolError('APPROVAL_DENIED', typeof reason === 'string' ? reason : 'The tool says that it was denied.')
    default:
      throw new ToolError('OUTPUT_SCHEMA_INVALID', `toModelOutput returned the unknown type ${showValue(type)}.`, {
        hint: 'Return { type: "text", value }, or one of the other types of the AI SDK.',
      })
  }
}

function toBlock(part: Part): ContentBlock {
  const { type, text, data, url, mediaType, filename: name } = part
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  // Ids of files mean something to one provider only.
  return mediaBlock({ data, url, mediaType, name }) ?? { type: 'text', text: showValue(part) }
}
