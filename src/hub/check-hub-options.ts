import { ToolError } from '../errors.ts'
import { didYouMean } from '../names.ts'
import type { HubOptions } from '../options.ts'

type KeysOf<K extends keyof HubOptions> = readonly (keyof NonNullable<HubOptions[K]>)[]

const OPTIONS: readonly (keyof HubOptions)[] = [
  ...([
    'tools',
    'plugins',
    'hooks',
    'visibility',
    'policy',
    'requests',
    'sandbox',
    'limits',
    'core',
    'approve',
  ] as const),
  ...(['approvals', 'onQuestion', 'runs', 'data', 'durability', 'run', 'caller', 'redact', 'clock'] as const),
]
const LIMITS: KeysOf<'limits'> = [
  ...(['timeoutMs', 'outputChars', 'inputBytes', 'inputDepth', 'run', 'session', 'tools', 'rate'] as const),
  ...(['concurrency', 'readBytes', 'httpBytes'] as const),
]
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  visibility: ['profile', 'allow', 'deny'] satisfies KeysOf<'visibility'>,
  sandbox: ['root', 'roots', 'network', 'privateRanges'] satisfies KeysOf<'sandbox'>,
  limits: LIMITS,
  approvals: ['timeoutMs', 'inbox'] satisfies KeysOf<'approvals'>,
  redact: ['values', 'keys'] satisfies KeysOf<'redact'>,
}

/** Refuses options that nobody reads: in plain JavaScript a mistyped `polcy` would loosen everything in silence. */
export function checkHubOptions(options: HubOptions): void {
  checkKeys(options, OPTIONS, 'createToolHub')
  for (const [section, keys] of Object.entries(SECTIONS)) {
    checkKeys((options as Record<string, object | undefined>)[section], keys, section)
  }
}

function checkKeys(value: object | undefined, known: readonly string[], where: string): void {
  if (value === undefined) return
  if (typeof value !== 'object' || value === null) throw invalid(`${where} takes an object.`, '')
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw invalid(`${where} has no option ${JSON.stringify(key)}.`, didYouMean(key, known))
  }
}

function invalid(message: string, nearest: string): ToolError {
  const hint = 'docs/api.md lists the options; the keys of tool-hub.yaml are read by loadConfig.'
  return new ToolError('CONFIG_INVALID', message, { hint: nearest || hint })
}
