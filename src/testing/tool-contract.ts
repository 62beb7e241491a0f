import type { AnyTool } from '../core/define.ts'
import type { HubOptions } from '../core/options.ts'
import { testHub } from './test-hub.ts'

/**
 * What every tool owes its callers, tried on the real road. Returns what is broken, nothing when all is well:
 * a description, two examples that work, closed input, evidence, an end when it is stopped. Options say what the
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
