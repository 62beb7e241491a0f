import type { FeatureCall, ToolCard, ToolResult } from '@tool-hub/core'
import type { ScriptAnswer, ScriptCall } from './engine/index.ts'

/** A tool as scripts call it: by its canonical name, or by a name of one of its dialects, with the arguments of that. */
export interface ScriptTool {
  readonly name: string
  readonly card: ToolCard
}

/** The tools that a script can call: those that its caller sees, apart from the ones that run scripts. */
export function scriptTools(caller: Pick<FeatureCall, 'tools' | 'dialectTools'>): readonly ScriptTool[] {
  return [
    ...caller.tools().map((card) => ({ name: card.tool, card })),
    ...caller.dialectTools().map((card) => ({ name: card.name, card })),
  ].filter(({ card: { tool } }) => !tool.startsWith('core/code.') && !tool.startsWith('script/'))
}

/** The call behind `tools.$search` and `tools.$describe`; any other is what it is. */
export function askedOf({ tool, input }: ScriptCall): Pick<ScriptCall, 'tool' | 'input'> {
  if (tool === '$search') return { tool: 'core/tool.search', input: { query: input } }
  return tool === '$describe' ? { tool: 'core/tool.describe', input: { names: [input] } } : { tool, input }
}

/** What a script gets of a call: the data, or what is thrown. */
export function toAnswer(result: ToolResult): ScriptAnswer {
  if (result.ok) return { ok: true, value: result.data ?? null }
  const { code, message, fix } = result.error
  if (result.data === undefined) return { ok: false, error: { code, message, hint: fix.hint } }
  return { ok: false, error: { code, message: withOutput(message, result), hint: fix.hint, data: result.data } }
}

/** Of a longer output, as many characters of the head and of the tail are in the message. */
const SHOWN_CHARS = 1_500

/** A script that does not catch the error ends with its message, so the message has the output of a failed command. */
function withOutput(message: string, { content }: ToolResult): string {
  const output = content.flatMap((block) => (block.type === 'text' ? block.text.trim() : [])).join('\n')
  if (output === '' || message.includes(output)) return message
  const chars = Array.from(output)
  const cut = chars.length - 2 * SHOWN_CHARS
  if (cut <= 0) return `${message}\n${output}`
  const [head, tail] = [chars.slice(0, SHOWN_CHARS).join(''), chars.slice(-SHOWN_CHARS).join('')]
  return `${message}\n${head}\n… [${cut} characters cut] …\n${tail}`
}
