import type { ToolArrangement, ToolCard } from '@tool-hub/core'
import { serverOf } from './tool-words.ts'
import type { ToolSearchOptions } from './types.ts'

const FINDS: ReadonlyMap<string, NonNullable<ToolCard['finds']>> = new Map([
  ['core/tool.search', 'search'],
  ['core/tool.describe', 'describe'],
  ['core/tool.call', 'call'],
])

/** With more tools than this, or more tokens of their schemas, `auto` shows models a search. */
const MAX_TOOLS = 30
const MAX_TOKENS = 10_000

/** A line about a server has about 15 tokens, and a listing about 1,500 for them. */
const MAX_LINE_CHARS = 60
const MAX_SERVERS = 100

/**
 * Which tools a model is shown: all, or those that are pinned, the tools that find others, and one line for each server.
 * The order and the texts depend on the tools alone, so that a listing is the same after a restart.
 */
export function arrangeTools({ discovery = 'auto', pin = [] }: ToolSearchOptions): ToolArrangement {
  return {
    pin,
    finders: [...FINDS.keys()],
    arrange(cards, isPinned) {
      const searched = cards.filter(({ tool }) => !FINDS.has(tool) && !isPinned(tool))
      const isOn = cards.some(({ tool }) => FINDS.get(tool) === 'search') && isNeeded(discovery, searched)
      const later = new Set(isOn ? searched : [])
      return cards.map((card) => {
        const finds = FINDS.get(card.tool)
        if (finds !== undefined)
          return { ...card, finds, ...(isOn ? describeServers(finds, card, searched) : { shown: 'never' }) }
        return later.has(card) ? { ...card, shown: 'later' } : card
      })
    },
  }
}

/** Built-in tools do not count: a hub that has nothing else shows them all. */
function isNeeded(discovery: NonNullable<ToolSearchOptions['discovery']>, searched: readonly ToolCard[]): boolean {
  if (discovery !== 'auto') return discovery === 'on' && searched.length > 0
  const added = searched.filter(({ tool }) => !tool.startsWith('core/'))
  return added.length > MAX_TOOLS || schemaTokens(added) > MAX_TOKENS
}

/** About how many tokens the definitions of tools have. */
export function schemaTokens(tools: readonly Pick<ToolCard, 'name' | 'description' | 'parameters'>[]): number {
  return tools.reduce(
    (sum, { name, description, parameters }) => sum + estimateTokens(JSON.stringify({ name, description, parameters })),
    0,
  )
}

/** An estimate that needs no tokenizer: four characters of ASCII are a token, and so is every other character. */
export function estimateTokens(text: string): number {
  const ascii = text.replaceAll(/[^\x00-\x7f]/gu, '').length
  const others = text.match(/[^\x00-\x7f]/gu)?.length ?? 0
  return Math.ceil(ascii / 4) + others
}

function describeServers(
  finds: ToolCard['finds'],
  { description }: ToolCard,
  searched: readonly ToolCard[],
): Pick<ToolCard, 'description'> | undefined {
  if (finds !== 'search') return undefined
  const servers = groupServers(searched)
  const lines = [...servers].slice(0, MAX_SERVERS).map(([server, names]) => serverLine(server, names))
  const more = servers.size - lines.length
  return { description: [description, ...lines, ...(more > 0 ? [`and ${more} more servers`] : [])].join('\n') }
}

function groupServers(tools: readonly ToolCard[]): Map<string, string[]> {
  const servers = new Map<string, string[]>()
  for (const { tool } of tools) {
    const server = serverOf(tool)
    const names = servers.get(server) ?? []
    names.push(tool === server ? tool : tool.slice(server.length + 1))
    servers.set(server, names)
  }
  return servers
}

/** `mcp/github (26): create_issue, get_file, …`: as many names as fit. */
function serverLine(server: string, names: readonly string[]): string {
  const begin = `${server} (${names.length}): `
  const shown: string[] = []
  for (const name of names) {
    if (shown.length > 0 && begin.length + [...shown, name].join(', ').length > MAX_LINE_CHARS) break
    shown.push(name)
  }
  return `${begin}${shown.join(', ')}${shown.length < names.length ? ', …' : ''}`
}
