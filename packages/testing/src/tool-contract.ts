import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyTool, HubOptions } from '@tool-hub/core'
import { type BuiltinTool, createToolHub } from '@tool-hub/library/create-tool-hub'
import type { Hub } from '@tool-hub/runtime/hub'

/**
 * Checks what every tool owes its callers, through the real pipeline. Returns what is broken, an empty list if nothing
 * is: a description, two examples that work, closed input, evidence, an end when it is stopped. Options say what the
 * examples need: a sandbox with the files they name, an approver.
 * @example
 * expect(await toolContract(saveNote)).toEqual([])
 */
export async function toolContract(tool: AnyTool, options: Omit<HubOptions, 'tools'> = {}): Promise<string[]> {
  const broken: string[] = []
  if (tool.description.length < 20) broken.push('description: too short to tell a model when to use it')
  if ((tool.examples?.length ?? 0) < 2) broken.push('examples: fewer than two')
  const hub = testHub({ policy: [{ allow: tool.name }], ...options, tools: [tool] })
  try {
    for (const { input } of tool.examples ?? []) {
      const result = await hub.callDynamic(tool.name, input)
      if (!result.ok) broken.push(`example ${JSON.stringify(input)}: ${result.error.code} ${result.error.message}`)
      if (result.evidence.length === 0) broken.push(`example ${JSON.stringify(input)}: no evidence`)
    }
    const extra = await hub.callDynamic(tool.name, { ...(tool.examples?.[0]?.input as object), 'no-such-key': 1 })
    if (extra.error?.code !== 'INPUT_SCHEMA_INVALID') broken.push('input: accepts a key it does not know')
    const wrong = await hub.callDynamic(tool.name, 'not an object')
    if (wrong.error?.code !== 'INPUT_SCHEMA_INVALID') broken.push('input: accepts a text in place of arguments')
    const stopped = await hub.callDynamic(tool.name, tool.examples?.[0]?.input, { signal: AbortSignal.abort() })
    if (stopped.status !== 'aborted') broken.push(`abort: ended with ${stopped.status}`)
  } finally {
    await hub.close()
  }
  return broken
}

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
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const hub = createToolHub({
      runs: join(folder, 'runs'),
      data: join(folder, 'data'),
      approve: () => ({ decision: 'allow', by: 'testHub' }),
      ...options,
    })
    const closeHub = hub.close.bind(hub)
    const close = (how?: { readonly abort?: boolean }) => closeHub(how).finally(remove)
    return Object.assign(hub, { folder, close })
  } catch (error) {
    // Options that are refused leave no folder behind.
    remove()
    throw error
  }
}
