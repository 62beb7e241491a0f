import { resolve } from 'node:path'
import { parseDuration } from '../config/units.ts'
import { createToolHub } from '../create-tool-hub.ts'
import type { Hub } from '../hub.ts'
import type { HubOptions } from '../options.ts'
import { callerName } from './caller-name.ts'
import { readConfig } from './read-config.ts'
import { canAsk } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** What the options of a command say about its hub. */
export interface HubFlags {
  readonly config?: string
  readonly root?: string
  readonly run?: string
  readonly yes?: boolean
  readonly wait?: string
}

/** Makes the hub that config and options describe; nothing touches the disk before the first call. */
export async function openHub(flags: HubFlags = {}): Promise<Hub> {
  const { options } = await readConfig(flags)
  return startHub(applyFlags(options, flags))
}

/** Makes a hub and waits for its plugins, which may set themselves up over time. */
export async function startHub(options: HubOptions): Promise<Hub> {
  const hub = createToolHub(options) as unknown as Hub
  await hub.ready()
  return hub
}

function applyFlags(options: HubOptions, flags: HubFlags): HubOptions {
  const { root, run } = flags
  return {
    ...options,
    caller: options.caller ?? callerName(),
    ...(run !== undefined && { run }),
    ...(root !== undefined && { sandbox: { ...options.sandbox, root: resolve(root) } }),
    ...approver(options, flags),
    ...(canAsk() && {
      onQuestion: async (...asked) => (await import('./answer-on-terminal.ts')).answerOnTerminal(...asked),
    }),
  }
}

/** Who allows: `--yes`, another process by `--wait`, the person at the terminal, or nobody. */
function approver(options: HubOptions, { yes, wait }: HubFlags): Pick<HubOptions, 'approve' | 'approvals'> {
  if (yes && wait !== undefined) throw new UsageError('--yes and --wait exclude each other.', 'Give one of them.')
  if (yes) return { approve: () => ({ decision: 'allow', by: 'cli --yes' }) }
  if (wait !== undefined) return { approvals: { ...options.approvals, timeoutMs: parseDuration(wait), inbox: true } }
  if (!canAsk()) return {}
  return { approve: async (request) => (await import('./ask-on-terminal.ts')).askOnTerminal(request) }
}
