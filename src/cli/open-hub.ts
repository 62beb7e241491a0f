import { resolve } from 'node:path'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { parseDuration } from '../config/units.ts'
import { createToolHub } from '../create-tool-hub.ts'
import { ToolError } from '../errors.ts'
import type { Hub } from '../hub.ts'
import type { HubOptions, Visibility } from '../options.ts'
import { callerName } from './caller-name.ts'
import { escapeText } from './escape-text.ts'
import { say } from './print.ts'
import { canAsk, style } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** What the options of a command say about its hub. */
export interface HubFlags {
  readonly config?: string
  readonly root?: string
  readonly run?: string
  readonly profile?: string
  readonly yes?: boolean
  readonly wait?: string
}

/** Makes the hub that config and options describe; nothing touches the disk before the first call. */
export async function openHub(flags: HubFlags = {}): Promise<Hub> {
  return (await openHubAndConfig(flags)).hub
}

/** The same, with what the config says, for commands that show it. */
export async function openHubAndConfig(flags: HubFlags): Promise<{ readonly hub: Hub; readonly options: HubOptions }> {
  const { options, warnings } = await readConfig(flags)
  for (const warning of warnings) say(`${style('yellow', 'warning:', process.stderr)} ${escapeText(warning)}`)
  const hub = createToolHub(applyFlags(options, flags)) as unknown as Hub
  if (options.plugins) await settlePlugins(hub)
  return { hub, options }
}

/** The config a command works with, for those that need no hub. */
export function readConfig({ config }: Pick<HubFlags, 'config'>): Promise<LoadedConfig> {
  return loadConfig({ file: config })
}

/** Plugins may set themselves up over time: the first question waits for them, and hears when one has failed. */
async function settlePlugins(hub: Hub): Promise<void> {
  const { error } = await hub.explain('', {})
  if (error?.code === 'CONFIG_INVALID') throw new ToolError(error.code, error.message, { fix: error.fix })
}

function applyFlags(options: HubOptions, flags: HubFlags): HubOptions {
  const { root, run, profile } = flags
  return {
    ...options,
    caller: options.caller ?? callerName(),
    ...(run !== undefined && { run }),
    ...(root !== undefined && { sandbox: { ...options.sandbox, root: resolve(root) } }),
    // An unknown profile is refused by the hub, with the nearest name.
    ...(profile !== undefined && { visibility: { ...options.visibility, profile: profile as Visibility['profile'] } }),
    ...approver(options, flags),
  }
}

/** Who answers: `--yes`, another process by `--wait`, the person at the terminal, or nobody. */
function approver(options: HubOptions, { yes, wait }: HubFlags): Pick<HubOptions, 'approve' | 'approvals'> {
  if (yes && wait !== undefined) throw new UsageError('--yes and --wait exclude each other.', 'Give one of them.')
  if (yes) return { approve: () => ({ decision: 'allow', by: 'cli --yes' }) }
  if (wait !== undefined) return { approvals: { ...options.approvals, timeoutMs: parseDuration(wait), inbox: true } }
  if (!canAsk()) return {}
  return { approve: async (request) => (await import('./ask-on-terminal.ts')).askOnTerminal(request) }
}
