import { didYouMean, ToolError } from '@tool-hub/core'
import type { MemoryProvider } from './providers/provider.ts'
import { type HttpMemory, type McpMemory, MEMORY_WRITE_MODES, type MemoryOptions } from './types.ts'

/** The owner's options, validated and with defaults. */
export interface MemorySettings {
  readonly isEnabled: boolean
  readonly writeMode: NonNullable<MemoryOptions['writeMode']>
  readonly provider: NonNullable<MemoryOptions['provider']>
  readonly embed: MemoryOptions['embed']
  readonly noteChars: number
  readonly notesPerScope: number
  readonly candidatesPerRun: number
  readonly timeoutMs: number
}

/** The maximum of `limits.noteChars`. */
const MAX_NOTE_CHARS = 20_000
const OPTIONS = ['enabled', 'writeMode', 'provider', 'embed', 'limits']
const LIMITS = ['noteChars', 'notesPerScope', 'candidatesPerRun', 'timeoutMs']

/** Validates the options; throws `CONFIG_INVALID` for unknown options and invalid values. */
export function readSettings(options: MemoryOptions): MemorySettings {
  const { enabled = true, writeMode = 'candidate', provider = 'embedded', embed, limits = {} } = options
  checkKeys(options, OPTIONS, 'memory')
  checkKeys(limits, LIMITS, 'memory.limits')
  if (!MEMORY_WRITE_MODES.includes(writeMode))
    throw invalid(`memory.writeMode is ${JSON.stringify(writeMode)}.`, `Use one of ${MEMORY_WRITE_MODES.join(', ')}.`)
  if (!isProvider(provider))
    throw invalid(
      'memory.provider is not a provider.',
      "Use 'embedded', { url }, { mcp: { server, recall } } or an object with recall and write.",
    )
  if (embed !== undefined && typeof embed !== 'function') throw invalid('memory.embed is not a function.', '')
  return {
    isEnabled: enabled,
    writeMode,
    provider,
    embed,
    noteChars: Math.min(positive(limits.noteChars, MAX_NOTE_CHARS, 'noteChars'), MAX_NOTE_CHARS),
    notesPerScope: positive(limits.notesPerScope, 100_000, 'notesPerScope'),
    candidatesPerRun: positive(limits.candidatesPerRun, 1_000, 'candidatesPerRun'),
    timeoutMs: positive(limits.timeoutMs, 10_000, 'timeoutMs'),
  }
}

/** Whether notes are stored by an HTTP service. */
export function isHttp(provider: MemorySettings['provider']): provider is HttpMemory {
  return typeof provider === 'object' && 'url' in provider
}

/** Whether notes are stored by tools of an MCP server. */
export function isMcp(provider: MemorySettings['provider']): provider is McpMemory {
  return typeof provider === 'object' && 'mcp' in provider
}

function isProvider(provider: MemorySettings['provider']): boolean {
  if (provider === 'embedded') return true
  if (typeof provider !== 'object' || provider === null) return false
  if (isHttp(provider)) return typeof provider.url === 'string'
  if (isMcp(provider)) return typeof provider.mcp?.server === 'string' && provider.mcp.recall !== undefined
  return typeof (provider as Partial<MemoryProvider>).recall === 'function'
}

function positive(value: number | undefined, otherwise: number, name: string): number {
  if (value === undefined) return otherwise
  if (Number.isInteger(value) && value >= 1) return value
  throw invalid(`memory.limits.${name} is ${JSON.stringify(value)}.`, 'Use a whole number of 1 or more.')
}

function checkKeys(value: object, known: readonly string[], where: string): void {
  const stranger = Object.keys(value).find((key) => !known.includes(key))
  if (stranger !== undefined)
    throw invalid(`${where} has no option ${JSON.stringify(stranger)}.`, didYouMean(stranger, known))
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('CONFIG_INVALID', message, { hint: hint || 'docs/reference/memory.md lists the options.' })
}
