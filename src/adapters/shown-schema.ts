import type { ToolCard } from '../hub/index.ts'
import { type Provider, type ProviderSchema, schemaFor } from './schema/for-provider.ts'

/** What the model is shown of a tool's parameters, and how its arguments become the tool's own again. */
export type ShownSchema = Pick<ProviderSchema, 'strict' | 'restore'> & { readonly schema: Record<string, unknown> }

/** The parameters of a card as a provider takes them; as they are when none is named. */
export function shownSchema({ parameters }: ToolCard, provider?: Provider): ShownSchema {
  return provider ? schemaFor(provider, parameters) : { schema: parameters, strict: false, restore: (args) => args }
}
