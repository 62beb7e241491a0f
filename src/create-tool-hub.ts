import type { AnyTool } from './define.ts'
import { createHub, type Hub } from './hub.ts'
import type { HubOptions } from './options.ts'
import { builtinTools } from './tools/index.generated.ts'

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
  return createHub(options, builtinTools) as Hub<BuiltinTool | T[number]>
}
