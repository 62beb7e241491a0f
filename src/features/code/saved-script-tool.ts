import { type AnyTool, defineTool, type ErrorCode, ToolError } from '../../core/index.ts'
import { describeCalls } from './tools/show-script.ts'
import type { SavedScript, ScriptResult } from './types.ts'

/** Longer than any script may take, so that a script ends by its own limit and says so. */
const CALL_TIMEOUT_MS = 3_600_000

/** Failures of scripts that errors of calls have, too. */
const CODES: ReadonlySet<string> = new Set<ErrorCode>(['POLICY_DENIED', 'APPROVAL_DENIED', 'TIMEOUT', 'ABORTED'])

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
      const result = await ctx.code.runSaved({ name, sha256 }, input, { onLog: (line) => ctx.progress(line) })
      if (result.status === 'completed') return result.value ?? null
      if (result.status === 'suspended') return result
      throw failureOf(name, result)
    },
  })
}

function failureOf(name: string, result: ScriptResult): ToolError {
  const { script, status, kind, message, line, column, hint, calls } = result
  if (status !== 'failed') return new ToolError('ABORTED', `The script ${name} was cancelled. ${describeCalls(calls)}`)
  const place = line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`
  const code = kind !== undefined && CODES.has(kind) ? (kind as ErrorCode) : 'TOOL_FAILED'
  return new ToolError(code, `The script ${name} failed: ${kind}${place}: ${message}\n${describeCalls(calls)}`, {
    hint: hint ?? 'What its calls have done stays. Call it with other arguments, or tell the owner, who can change it.',
    details: { script, kind, line, column },
  })
}
