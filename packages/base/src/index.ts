import { type AnyTool, FEATURES, type FeatureName, type HubOptions, type Store, ToolError } from '@tool-hub/core'
import { coreForms } from '@tool-hub/library/core-forms'
import { featureStores as features } from '@tool-hub/library/generated/stores'
import { createHub, type Hub } from '@tool-hub/runtime/hub'
import {
  createInProcessStore,
  type MemoryStoreOptions,
  type OpenStoreOptions,
  openFileStore,
} from '@tool-hub/runtime/store'
import { type CoreTool, coreTools } from '@tool-hub/runtime/tools'

export * from '@tool-hub/library/public'
export { createBaseHub as createToolHub, createBaseStore as createMemoryStore, openBaseStore as openStore }

/** What only the package `tool-hub` has. */
const ELSEWHERE = [...FEATURES, 'mcpServers', 'skills', 'database'] as const

/** The options of a hub without features, MCP servers, skills and databases: the package `tool-hub` has those. */
export type BaseHubOptions<T extends readonly AnyTool[] = readonly AnyTool[]> = Omit<
  HubOptions<T>,
  FeatureName | 'mcpServers' | 'skills' | 'database'
>

/**
 * Makes a hub: the built-in tools for files, commands, the web and values, and yours, under one policy, on one record.
 * @example
 * const hub = createToolHub({ tools: [saveNote], policy: [{ allow: 'write:fs', on: './notes/**' }] })
 * const result = await hub.call(saveNote, { path: './notes/a.md', text: '# hi' })
 */
function createBaseHub<const T extends readonly AnyTool[] = readonly []>(
  options: BaseHubOptions<T> = {},
): Hub<CoreTool | T[number]> {
  for (const name of ELSEWHERE) {
    if ((options as Readonly<Record<string, unknown>>)[name] === undefined) continue
    throw new ToolError('CONFIG_INVALID', `createToolHub of @tool-hub/base has no option "${name}".`, {
      hint: 'Install the package tool-hub, which has it, and import createToolHub from there.',
    })
  }
  const forms = coreForms(options)
  const builtins = coreTools.map((tool) => forms.get(tool.name)?.(tool) ?? tool)
  return createHub(options, { builtins, features: [], tables: features }) as Hub<CoreTool | T[number]>
}

/**
 * The store of a data folder, in its file `store.db`: created and opened at its first use, shared by processes. It has the
 * tables of all features, so that the package `tool-hub` can use the same folder later.
 */
function openBaseStore(folder: string, options: OpenStoreOptions = {}): Store {
  return openFileStore(folder, { ...options, features })
}

/** A store in this process: it answers immediately, never with a promise, and ends with the process. */
function createBaseStore(options: MemoryStoreOptions = {}): Store {
  return createInProcessStore({ ...options, features })
}
