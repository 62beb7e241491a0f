import { lazyModule, systemClock, type ToolCard, toWireName } from '@tool-hub/core'
import type { ToolEntry } from '@tool-hub/core/protocol'
import type { Hub, PrincipalHub } from '@tool-hub/runtime/hub'
import { ToolList } from '../../mcp/tool-list.ts'

const loadAdapters = lazyModule(() => import('@tool-hub/adapters'))

interface ListWish {
  readonly form: 'hub' | 'openai' | 'anthropic' | 'mcp'
  readonly dialect?: string
  readonly hidden?: boolean
  readonly search?: string
}

/** How many tools a search finds. */
const MAX_FOUND = 50

/** Lists the tools that a caller sees, or those of them that a search finds, in the requested form. */
export async function listForms(
  owner: Hub,
  hub: PrincipalHub,
  { search, ...wish }: ListWish,
): Promise<readonly unknown[]> {
  if (search === undefined) return listIn(owner, hub, wish)
  const { form, dialect } = wish
  const cards = hub.cards({ dialect })
  const { matches } = await owner.toolSearch.search(search, { tools: cards, limit: MAX_FOUND })
  const ranks = new Map(matches.flatMap(({ name, tool }, rank) => [[name, rank] as const, [tool, rank] as const]))
  const names = matches.map(({ tool }) => tool)
  const listed = await listIn(owner, hub, { form, dialect }, names)
  const rankOf = (tool: unknown) => ranks.get(nameOf(tool)) ?? MAX_FOUND
  return [...listed].sort((one, other) => rankOf(one) - rankOf(other))
}

/** All tools in the requested form, or those with these names, in any order. */
async function listIn(
  owner: Hub,
  hub: PrincipalHub,
  wish: Omit<ListWish, 'search'>,
  names?: readonly string[],
): Promise<readonly unknown[]> {
  const { form, dialect } = wish
  if (form === 'openai') return (await loadAdapters()).toOpenAi(hub, { dialect, names }).chat.tools
  if (form === 'anthropic') return (await loadAdapters()).toAnthropic(hub, { dialect, names }).tools
  if (form === 'mcp') return mcpTools(hub, dialect, names && new Set(names))
  return hubTools(owner, hub, wish).filter(({ tool }) => names === undefined || names.includes(tool))
}

/** The name of a tool in any of the forms. */
function nameOf(tool: unknown): string {
  const { name, function: own } = tool as { readonly name?: string; readonly function?: { readonly name: string } }
  return name ?? own?.name ?? ''
}

function mcpTools(hub: PrincipalHub, dialect: string | undefined, only?: ReadonlySet<string>): readonly unknown[] {
  const list = new ToolList(hub, { dialect, readyTimeoutMs: 0, clock: systemClock })
  try {
    return only ? list.some(only) : list.result('modern').tools
  } finally {
    list.close()
  }
}

function hubTools(owner: Hub, hub: PrincipalHub, { dialect, hidden = false }: ListWish): ToolEntry[] {
  const cards = new Map<string, ToolCard>()
  // A tool that is hidden from the caller has a card in the owner's hub.
  if (hidden) for (const card of owner.cards({ dialect, all: true })) cards.set(card.tool, card)
  for (const card of hub.cards({ dialect, all: true })) cards.set(card.tool, card)
  return hub.list({ hidden }).map((listing) => {
    const { name: tool, title, description, kind, group, capabilities, visible, why } = listing
    const card = cards.get(tool)
    return {
      tool,
      name: card?.name ?? toWireName(tool),
      title,
      description: card?.description ?? description,
      kind,
      group,
      capabilities: [...capabilities],
      visible,
      why,
      parameters: card?.parameters ?? {},
      ...(card?.output && { output: card.output }),
    }
  })
}
