import type { AnyTool } from './define.ts'
import { createHub, type Hub } from './hub.ts'
import type { HubOptions } from './options.ts'
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
  const search = options.web?.search
  const tools = builtinTools.map((tool) => (search && tool.name === webSearch.name ? createWebSearch(search) : tool))
  return createHub(options, tools) as Hub<BuiltinTool | T[number]>
}
