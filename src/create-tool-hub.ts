import type { AnyTool } from './core/define.ts'
import type { HubOptions } from './core/options.ts'
import { createHub, type Hub } from './hub/hub.ts'
import { lazySource } from './hub/lazy-source.ts'
import { turnedOffSource } from './hub/turned-off-source.ts'
import { lazyModule } from './lib/lazy-module.ts'
import { skillRoots } from './sources/skills/skill-roots.ts'
import { createKeepingFetchText, fetchText } from './tools/http/fetch-text.ts'
import { builtinTools } from './tools/index.generated.ts'
import { memoryForms, memoryTurnedOff } from './tools/memory/memory-forms.ts'
import { createWebSearch, webSearch } from './tools/web/web-search.ts'

const loadMcpSource = lazyModule(() => import('./sources/mcp/mcp-source.ts'))
const loadSkillSource = lazyModule(() => import('./sources/skills/skill-source.ts'))

/** The tools every hub has. */
export type BuiltinTool = (typeof builtinTools)[number]

/**
 * Makes a hub: the built-in tools and yours, under one policy, on one record.
 * @example
 * const hub = createToolHub({ tools: [saveNote], policy: [{ allow: 'write:fs', on: './notes/**' }] })
 * const result = await hub.call(saveNote, { path: './notes/a.md', text: '# hi' })
 */
export function createToolHub<const T extends readonly AnyTool[] = readonly []>(
  options: HubOptions<T> = {},
): Hub<BuiltinTool | T[number]> {
  const chosen = chosenForms(options)
  const off: readonly AnyTool[] = memoryTurnedOff(options.memory).tools
  const tools = builtinTools.filter((tool) => !off.includes(tool)).map((tool) => chosen.get(tool) ?? tool)
  return createHub(withSources(options), tools) as Hub<BuiltinTool | T[number]>
}

/** What the owner names by a key of its own is a source like any other. */
function withSources(options: HubOptions): HubOptions {
  const { mcpServers, skills, sources = [], sandbox, memory } = options
  const off = memoryTurnedOff(memory)
  return {
    ...options,
    sources: [
      ...sources,
      ...(off.tools.length > 0 ? [turnedOffSource('memory', off.tools, off.why)] : []),
      ...(mcpServers ? [lazySource('mcp', async () => (await loadMcpSource()).createMcpSource(mcpServers))] : []),
      ...(skills?.length
        ? [lazySource('skills', async () => (await loadSkillSource()).createSkillSource(skills))]
        : []),
    ],
    ...(skills?.length && { sandbox: { ...sandbox, roots: [...(sandbox?.roots ?? []), ...skillRoots(skills)] } }),
  }
}

/** The built-in tools that the owner's options give another form. */
function chosenForms({ core, web, memory }: HubOptions): ReadonlyMap<AnyTool, AnyTool> {
  const forms = new Map<AnyTool, AnyTool>()
  if (core?.enableAutoWriteLargeResponses) forms.set(fetchText, createKeepingFetchText())
  if (web?.search) forms.set(webSearch, createWebSearch(web.search))
  for (const [tool, form] of memoryForms(memory)) forms.set(tool, form)
  return forms
}
