import { join } from 'node:path'
import type { HubOptions, Store } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import { openStore } from '@tool-hub/library/stores'
import { z } from 'zod'
import { defineTool } from '../../packages/core/src/tool.ts'

/** Writes a file, with a line for each execution, so that a doubled side effect is seen. */
export const addLine = defineTool({
  name: 'shared.addLine',
  description: 'Adds a line to a file, for tests.',
  input: z.strictObject({ path: z.string(), line: z.string() }),
  capabilities: ['read:fs', 'write:fs'],
  targets: ({ path }) => ({ 'read:fs': [path], 'write:fs': [path] }),
  async execute({ path, line }, { fs }) {
    const before = await fs.readText(path).catch(() => '')
    await fs.writeText(path, `${before}${line}\n`, { overwrite: true })
    return line
  },
})

/** Returns a text that is too long for a model, so that it becomes an artifact. */
export const longText = defineTool({
  name: 'shared.longText',
  description: 'Returns a long text, for tests.',
  input: z.strictObject({ length: z.int() }),
  capabilities: [],
  execute: async ({ length }) => 'long text '.repeat(length / 10),
})

/** A store in a file that counts as shared: several processes on this machine use it. */
export function openSharedStore(folder: string, options: { readonly now?: () => number } = {}): Store {
  return { ...openStore(folder, options), location: 'network' }
}

/** A hub of one machine: its folders are its own, the store and the sandbox root are common. */
export function sharedHub(machine: string, store: Store, options: HubOptions = {}) {
  return createToolHub({
    tools: [addLine, longText],
    store,
    runs: join(machine, 'runs'),
    data: join(machine, 'data'),
    policy: [{ allow: 'write:fs' }],
    ...options,
  })
}
