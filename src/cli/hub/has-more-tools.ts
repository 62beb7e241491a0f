import type { HubOptions } from '../../options.ts'

/** Whether there are other tools than the built-in ones. */
export function hasMoreTools({ tools, plugins, sources, mcpServers, skills }: HubOptions): boolean {
  return [tools, plugins, sources, skills, Object.keys(mcpServers ?? {})].some((list) => (list?.length ?? 0) > 0)
}
