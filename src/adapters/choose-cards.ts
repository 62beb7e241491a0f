import { didYouMean, ToolError } from '../core/index.ts'
import type { Hub, ToolCard } from '../hub/index.ts'
import type { AdapterOptions } from './adapter-options.ts'

/** The cards of the visible tools, or of those that are named; a name that no visible tool has is an error. */
export function chooseCards(
  hub: Hub,
  { dialect, names }: Pick<AdapterOptions, 'dialect' | 'names'>,
): readonly ToolCard[] {
  const cards = hub.cards({ dialect })
  if (!names) return cards
  const known = new Set(cards.flatMap(({ name, tool }) => [name, tool]))
  for (const name of names) if (!known.has(name)) throw unknown(name, known)
  return cards.filter(({ name, tool }) => names.includes(name) || names.includes(tool))
}

function unknown(name: string, known: ReadonlySet<string>): ToolError {
  return new ToolError('TOOL_NOT_FOUND', `No visible tool is named ${JSON.stringify(name)}.`, {
    hint: didYouMean(name, known) || 'See hub.list({ hidden: true }) for what there is and what hides it.',
  })
}
