import { type AnyTool, type MemoryOptions, type MemoryScope, ToolError } from '../../core/index.ts'
import { memoryForget } from './memory-forget.ts'
import { memoryRecall } from './memory-recall.ts'
import { memoryUpdate } from './memory-update.ts'
import { memoryWrite } from './memory-write.ts'

const WRITING: readonly AnyTool[] = [memoryWrite, memoryUpdate, memoryForget]

/** The tools of memory in the form that the mode gives them: what is kept at once is judged by its scope alone. */
export function memoryForms({ writeMode }: MemoryOptions = {}): readonly (readonly [AnyTool, AnyTool])[] {
  if (writeMode !== 'external') return []
  const targets = ({ scope }: { readonly scope: MemoryScope }) => ({ memory: scope })
  return [memoryWrite, memoryUpdate].map((tool) => [tool, Object.freeze({ ...tool, targets })] as const)
}

/** The tools that the owner has turned off: they are not there, and whoever calls one is told why. */
export function memoryTurnedOff({ enabled = true, writeMode }: MemoryOptions = {}): {
  readonly tools: readonly AnyTool[]
  readonly why: () => ToolError
} {
  if (!enabled)
    return {
      tools: [memoryRecall, ...WRITING],
      why: () => off('Memory is off: memory.enabled is false.', 'memory.enabled', true),
    }
  return {
    tools: writeMode === 'disabled' ? WRITING : [],
    why: () => off('Memory can only be read: memory.write_mode is disabled.', 'memory.write_mode', 'candidate'),
  }
}

function off(message: string, key: string, value: unknown): ToolError {
  return new ToolError('TOOL_DISABLED', message, { fix: { key, value, hint: `Have the owner set ${key}.` } })
}
