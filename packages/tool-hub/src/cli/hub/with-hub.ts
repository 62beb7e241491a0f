import { resolve } from 'node:path'
import type { AnyTool, CallFlags, HubOptions } from '@tool-hub/core'
import { createToolHub } from '@tool-hub/library/create-tool-hub'
import type { Hub } from '@tool-hub/runtime/hub'
import { UsageError } from '../exit.ts'
import { parseTime } from '../input/options.ts'
import { callerName } from '../invocation.ts'
import { canAsk } from '../output/print.ts'
import { readCliConfig } from './config.ts'
import { openDataStore } from './data-store.ts'
import { ignoreByGit, withCurrentRoot } from './folders.ts'

/** The options of a command that concern its hub. */
export type HubFlags = CallFlags

type UseHub<T> = (hub: Hub, options: HubOptions) => T | Promise<T>

/** Creates the hub that the config and the options describe, and closes it after `use`. */
export async function withHub<T>(flags: HubFlags, use: UseHub<T>): Promise<T> {
  const { options } = await readCliConfig(flags)
  const applied = applyFlags(options, flags)
  return withHubOf(applied, (hub) => use(hub, applied))
}

/** The same for a person who works in a folder: tools work in it if the config and the options name none. */
export async function withHubHere<T>(flags: HubFlags, use: UseHub<T>, place = withCurrentRoot): Promise<T> {
  const { options } = await readCliConfig(flags)
  const applied = place(applyFlags(options, flags))
  return withHubOf(applied, (hub) => use(hub, applied))
}

/** The same with given options. The hub is always closed, so that plugins are released and records are flushed. */
export async function withHubOf<T>(options: HubOptions, use: (hub: Hub) => T | Promise<T>): Promise<T> {
  const store = options.store ?? openDataStore(options)
  try {
    // A database that cannot be used is reported before anything is executed.
    if (options.database && !options.store) await store.check()
    return await useHub({ ...options, store }, use)
  } finally {
    if (!options.store) await store.close()
    ignoreByGit(options)
  }
}

async function useHub<T>(options: HubOptions, use: (hub: Hub) => T | Promise<T>): Promise<T> {
  const hub: Hub = createToolHub<readonly AnyTool[]>(options)
  let outcome: T
  try {
    await hub.ready()
    outcome = await use(hub)
  } catch (error) {
    // A failure to close follows from the first failure, which is the one to report.
    await hub.close().catch(() => {})
    throw error
  }
  await hub.close()
  return outcome
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
      onQuestion: async (...asked) => (await import('../prompt/ask-on-terminal.ts')).answerOnTerminal(...asked),
    }),
  }
}

/** Who approves: `--yes`, another process with `--wait`, the person at the terminal, or nobody. */
function approver(options: HubOptions, { yes, wait }: HubFlags): Pick<HubOptions, 'approve' | 'approvals'> {
  if (yes && wait !== undefined) throw new UsageError('--yes and --wait exclude each other.', 'Give one of them.')
  if (yes) return { approve: () => ({ decision: 'allow', by: 'cli --yes' }) }
  if (wait !== undefined)
    return { approvals: { ...options.approvals, timeoutMs: parseTime('--wait', wait), inbox: true } }
  if (!canAsk()) return {}
  return { approve: async (request) => (await import('../prompt/ask-on-terminal.ts')).askOnTerminal(request) }
}
