import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyTool } from '../core/define.ts'
import type { HubOptions } from '../core/options.ts'
import { type BuiltinTool, createToolHub } from '../create-tool-hub.ts'
import type { Hub } from '../hub/hub.ts'

/** A hub in a folder of its own that is gone when it is closed. */
export type TestHub<T extends AnyTool = AnyTool> = Hub<T> & {
  /** The temporary folder: `runs/` and `data/` are below it. */
  readonly folder: string
}

/**
 * A real hub for tests: real records and files in a temporary folder; everything policy would ask is allowed
 * unless you say otherwise, so that a tool can be tested without a policy.
 * @example
 * const hub = testHub({ tools: [saveNote] })
 * expect((await hub.call(saveNote, { path: 'a.md', text: 'hi' })).ok).toBe(true)
 * await hub.close()
 */
export function testHub<const T extends readonly AnyTool[] = readonly []>(
  options: HubOptions<T> = {},
): TestHub<BuiltinTool | T[number]> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-hub-test-'))
  const hub = makeOrRemove(folder, () =>
    createToolHub({
      runs: join(folder, 'runs'),
      data: join(folder, 'data'),
      approve: () => ({ decision: 'allow', by: 'testHub' }),
      ...options,
    }),
  )
  const closeHub = hub.close.bind(hub)
  const close = async (how?: { readonly abort?: boolean }) => {
    try {
      await closeHub(how)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return Object.assign(hub, { folder, close })
}

/** Options that are refused leave no folder behind. */
function makeOrRemove<T>(folder: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
}
