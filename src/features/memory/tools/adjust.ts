import { type AnyTool, type ToolAdjustment, ToolError } from '../../../core/index.ts'
import type { MemoryOptions, MemoryScope } from '../types.ts'
import { memoryForget } from './forget.ts'
import { memoryRecall } from './recall.ts'
import { memoryUpdate } from './update.ts'
import { memoryWrite } from './write.ts'

const WRITING: readonly AnyTool[] = [memoryWrite, memoryUpdate, memoryForget]

/** Applies the owner's options: turns tools off, or lets policy decide by the scope alone if notes are not reviewed. */
export function adjustMemoryTools({ enabled = true, writeMode }: MemoryOptions): ToolAdjustment {
  if (!enabled)
    return {
      off: {
        tools: [memoryRecall, ...WRITING],
        why: () => off('Memory is off: memory.enabled is false.', 'memory.enabled', true),
      },
    }
  if (writeMode === 'disabled')
    return {
      off: {
        tools: WRITING,
        why: () => off('Memory is read-only: memory.write_mode is disabled.', 'memory.write_mode', 'candidate'),
      },
    }
  if (writeMode !== 'external') return {}
  const targets = ({ scope }: { readonly scope: MemoryScope }) => ({ memory: scope })
  const withTargets = (tool: AnyTool) => [tool, Object.freeze({ ...tool, targets })] as const
  return { replaced: new Map([memoryWrite, memoryUpdate].map(withTargets)) }
}

function off(message: string, key: string, value: unknown): ToolError {
  return new ToolError('TOOL_DISABLED', message, { fix: { key, value, hint: `Ask the owner to set ${key}.` } })
}
