import { type AnyTool, defineTool, ToolError } from '@tool-hub/core'
import { describeCalls, failureCode, failureOf, noteOutcome } from './tools/show-script.ts'
import type { SavedScript, ScriptResult } from './types.ts'

/** Longer than any script may take, so that a script ends by its own limit and says so. */
const CALL_TIMEOUT_MS = 3_600_000

/** The tool `script/<name>` of a saved script. Its data is the value of the script, or the suspended script. */
export function savedScriptTool({ name, description, sha256, inputSchema }: SavedScript): AnyTool {
  return defineTool({
    name: `script/${name}`,
    kind: 'script',
    description,
    input: inputSchema,
    capabilities: ['code'],
    // A script in a script would occupy two workers, and could not be suspended with the outer one.
    callers: ['direct'],
    timeoutMs: CALL_TIMEOUT_MS,
    group: 'scripts',
    category: 'code',
    tags: ['script'],
    version: sha256.slice(0, 12),
    async execute(input, ctx) {
      const onLog = (line: string) => ctx.progress(line)
      const result = noteOutcome(await ctx.code.runSaved({ name, sha256 }, input, { onLog }), ctx)
      if (result.status === 'completed') return result.value ?? null
      if (result.status === 'suspended') return result
      throw errorOf(name, result)
    },
  })
}

function errorOf(name: string, result: ScriptResult): ToolError {
  const { script, status, kind, line, column, hint, calls } = result
  if (status !== 'failed') return new ToolError('ABORTED', `The script ${name} was cancelled. ${describeCalls(calls)}`)
  return new ToolError(
    failureCode(result),
    `The script ${name} failed: ${failureOf(result)}\n${describeCalls(calls)}`,
    {
      hint:
        hint ?? 'What its calls have done stays. Call it with other arguments, or tell the owner, who can change it.',
      details: { script, kind, line, column },
    },
  )
}
