import type { AnyTool } from './define.ts'
import { lazySource } from './hub/lazy-source.ts'
import { createHub, type Hub } from './hub.ts'
import type { HubOptions } from './options.ts'
import { skillRoots } from './sources/skills/skill-roots.ts'
import { createKeepingFetchText, fetchText } from './tools/http/fetch-text.ts'
import { builtinTools } from './tools/index.generated.ts'
import { createWebSearch, webSearch } from './tools/web/web-search.ts'

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
  const tools = builtinTools.map((tool) => chosen.get(tool) ?? tool)
  return createHub(withSources(options), tools) as Hub<BuiltinTool | T[number]>
}

/** What the owner names by a key of its own is a source like any other. */
function withSources(options: HubOptions): HubOptions {
  const { mcpServers, skills, sources = [], sandbox } = options
  return {
    ...options,
    sources: [
      ...sources,
      ...(mcpServers
        ? [lazySource('mcp', async () => (await import('./sources/mcp/mcp-source.ts')).createMcpSource(mcpServers))]
        : []),
      ...(skills?.length
        ? [
            lazySource('skills', async () =>
              (await import('./sources/skills/skill-source.ts')).createSkillSource(skills),
            ),
          ]
        : []),
    ],
    ...(skills?.length && { sandbox: { ...sandbox, roots: [...(sandbox?.roots ?? []), ...skillRoots(skills)] } }),
  }
}

/** The built-in tools that the owner's options give another form. */
function chosenForms({ core, web }: HubOptions): ReadonlyMap<AnyTool, AnyTool> {
  const forms = new Map<AnyTool, AnyTool>()
  if (core?.enableAutoWriteLargeResponses) forms.set(fetchText, createKeepingFetchText())
  if (web?.search) forms.set(webSearch, createWebSearch(web.search))
  return forms
}
