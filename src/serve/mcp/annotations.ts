import type { ToolAnnotations } from '@modelcontextprotocol/server'
import type { Capability } from '../../define.ts'

const ONLY_READS: ReadonlySet<Capability> = new Set(['read:fs', 'network'])
const REACHES_OUT: ReadonlySet<Capability> = new Set(['network', 'send', 'remote', 'exec'])

/** What a client may tell a person of a tool, from what the tool declared it may do. Hints: policy decides, not they. */
export function annotationsOf(capabilities: readonly Capability[]): ToolAnnotations {
  const readOnlyHint = capabilities.every((capability) => ONLY_READS.has(capability))
  return {
    readOnlyHint,
    destructiveHint: capabilities.includes('danger:destructive'),
    ...(readOnlyHint && { idempotentHint: true }),
    openWorldHint: capabilities.some((capability) => REACHES_OUT.has(capability)),
  }
}
