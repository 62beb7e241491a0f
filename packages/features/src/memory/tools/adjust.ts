import { type AnyTool, type ToolAdjustment, ToolError } from '@tool-hub/core'
import type { MemoryOptions, MemoryScope } from '../types.ts'

const WRITING = ['core/memory.write', 'core/memory.update', 'core/memory.forget']

/** Applies the owner's options: turns tools off, or lets policy decide by the scope alone if notes are not reviewed. */
export function adjustMemoryTools({ enabled = true, writeMode }: MemoryOptions): ToolAdjustment {
  if (!enabled)
    return {
      off: {
        tools: ['core/memory.recall', ...WRITING],
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
  const withTargets = (tool: AnyTool) => Object.freeze({ ...tool, targets })
  return {
    replaced: new Map([
      ['core/memory.write', withTargets],
      ['core/memory.update', withTargets],
    ]),
  }
}

function off(message: string, key: string, value: unknown): ToolError {
  return new ToolError('TOOL_DISABLED', message, { fix: { key, value, hint: `Ask the owner to set ${key}.` } })
}
