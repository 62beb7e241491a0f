import type { ContentBlock } from '../../result.ts'

/** The text among blocks, for messages. */
export function textOf(blocks: readonly ContentBlock[]): string {
  return blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}
