import { FEATURE_CAPABILITIES } from './features.generated.ts'

/** What a tool may need. A tool without capabilities is pure and runs without approval. */
export const CAPABILITIES = [
  'read:fs',
  'write:fs',
  'network',
  'send',
  'exec',
  ...FEATURE_CAPABILITIES,
  // Acts through a party that the hub only talks to: an MCP server, a client.
  'remote',
  'danger:destructive',
] as const

/** One of the capabilities a tool declares to receive its handle. */
export type Capability = (typeof CAPABILITIES)[number]

/**
 * Capabilities whose handles report when a call first changes something; until then a call can be repeated and its
 * record needs no fsync.
 */
export const GUARDED: ReadonlySet<Capability> = new Set(
  CAPABILITIES.filter((capability) => capability !== 'remote' && capability !== 'danger:destructive'),
)

/** Who may call a tool: an agent directly, or a script that the model wrote. */
export type CallerKind = 'direct' | 'script'
