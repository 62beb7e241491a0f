import type { Content, ContentBlock } from '../../core/index.ts'
import type { Call } from './call.ts'
import type { Parts } from './parts.ts'

const BLOCK_TYPES: ReadonlySet<ContentBlock['type']> = new Set(['text', 'image', 'audio', 'resource', 'resource-link'])
const DEFAULT_CHARS = 30_000

/** The blocks of what a tool said, a plain text being one block. */
export function blocks(content: Content): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  if (Array.isArray(content) && content.every((block) => BLOCK_TYPES.has(block?.type))) return content
  throw new TypeError(`Content is a text, or a list of blocks: ${[...BLOCK_TYPES].join(', ')}.`)
}

/** How many characters of a call's text a model gets: what its tool says, but never more than the owner. */
export function outputLimit({ settings }: Parts, { tool, dialect }: Call): number {
  const wanted = dialect?.dialect.maxOutputChars ?? tool!.tool.maxOutputChars ?? DEFAULT_CHARS
  return Math.min(wanted, settings.outputChars ?? wanted)
}
