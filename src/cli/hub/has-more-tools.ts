import type { HubOptions } from '../../core/index.ts'

/** Whether there are other tools than the built-in ones, all of them. */
export function hasMoreTools({ tools, plugins, sources, mcpServers, skills, memory }: HubOptions): boolean {
  if (memory?.enabled === false || memory?.writeMode === 'disabled') return true
  return [tools, plugins, sources, skills, Object.keys(mcpServers ?? {})].some((list) => (list?.length ?? 0) > 0)
}
