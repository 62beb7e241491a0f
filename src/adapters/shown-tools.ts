import { didYouMean, ToolError } from '../core/index.ts'
import type { Hub, ToolCard } from '../hub/index.ts'
import { type Provider, type ProviderSchema, schemaFor } from './schema/for-provider.ts'

/** Options of every adapter. */
export interface AdapterOptions {
  /** The run whose records, budget and workspace the calls belong to. Default: the hub's own. */
  readonly run?: string
  /** The agent's conversation, for `limits.session` and for answers remembered for a session. Default: the run. */
  readonly session?: string
  /** Who calls; recorded. */
  readonly caller?: string
  /** The dialect: names and arguments under which the model sees the tools. Default: that of the profile. */
  readonly dialect?: string
  /** Only these tools, by canonical name or by the name that the model sees. */
  readonly names?: readonly string[]
}

/** What adapters use of a hub, or of the hub of a principal. */
export type ToolCaller = Pick<Hub, 'cards' | 'callDynamic'>

/**
 * The cards of the visible tools, or of those in `names`. Throws TOOL_NOT_FOUND for a name that no visible tool has.
 */
export function chooseCards(
  hub: ToolCaller,
  { dialect, names }: Pick<AdapterOptions, 'dialect' | 'names'>,
): readonly ToolCard[] {
  const cards = hub.cards({ dialect })
  if (!names) return cards
  const known = new Set(cards.flatMap(({ name, tool }) => [name, tool]))
  for (const name of names) if (!known.has(name)) throw noSuchTool(name, known)
  return cards.filter(({ name, tool }) => names.includes(name) || names.includes(tool))
}

function noSuchTool(name: string, known: ReadonlySet<string>): ToolError {
  return new ToolError('TOOL_NOT_FOUND', `No visible tool is named ${JSON.stringify(name)}.`, {
    hint: didYouMean(name, known) || 'See hub.list({ hidden: true }) for what there is and what hides it.',
  })
}

/** The parameters as the model sees them, and how to convert its arguments back. */
type ShownSchema = Pick<ProviderSchema, 'strict' | 'restore'> & { readonly schema: Record<string, unknown> }

/** The parameters of a card, converted for a provider if one is given. */
export function shownSchema({ parameters }: ToolCard, provider?: Provider): ShownSchema {
  return provider ? schemaFor(provider, parameters) : { schema: parameters, strict: false, restore: (args) => args }
}
