import { lazyModule, systemClock, type ToolCard, toWireName } from '../../../core/index.ts'
import type { Hub, PrincipalHub } from '../../../hub/index.ts'
import type { ToolEntry } from '../../../protocol/index.ts'
import { ToolList } from '../../mcp/tool-list.ts'

const loadOpenai = lazyModule(() => import('../../../adapters/index.ts'))
const loadAnthropic = lazyModule(() => import('../../../adapters/index.ts'))

interface ListWish {
  readonly form: 'hub' | 'openai' | 'anthropic' | 'mcp'
  readonly dialect?: string
  readonly hidden?: boolean
}

/** Lists the tools that a caller sees, in the requested form. */
export async function listForms(owner: Hub, hub: PrincipalHub, wish: ListWish): Promise<readonly unknown[]> {
  const { form, dialect } = wish
  if (form === 'openai') return (await loadOpenai()).toOpenAi(hub, { dialect }).chat.tools
  if (form === 'anthropic') return (await loadAnthropic()).toAnthropic(hub, { dialect }).tools
  if (form === 'mcp') return mcpTools(hub, dialect)
  return hubTools(owner, hub, wish)
}

function mcpTools(hub: PrincipalHub, dialect: string | undefined): readonly unknown[] {
  const list = new ToolList(hub, { dialect, readyTimeoutMs: 0, clock: systemClock })
  try {
    return list.result('modern').tools
  } finally {
    list.close()
  }
}

function hubTools(owner: Hub, hub: PrincipalHub, { dialect, hidden = false }: ListWish): ToolEntry[] {
  const cards = new Map<string, ToolCard>()
  // A tool that is hidden from the caller has a card in the owner's hub.
  if (hidden) for (const card of owner.cards({ dialect })) cards.set(card.tool, card)
  for (const card of hub.cards({ dialect })) cards.set(card.tool, card)
  return hub.list({ hidden }).map((listing) => {
    const { name: tool, title, description, kind, group, capabilities, visible, why } = listing
    const card = cards.get(tool)
    return {
      tool,
      name: card?.name ?? toWireName(tool),
      ...(title !== undefined && { title }),
      description: card?.description ?? description,
      kind,
      group,
      capabilities: [...capabilities],
      visible,
      ...(why !== undefined && { why }),
      parameters: card?.parameters ?? {},
      ...(card?.output && { output: card.output }),
    }
  })
}
