import { type ErrorCode, type HubOptions, ToolError } from '../../core/index.ts'
import type { Hub } from '../../hub/index.ts'
import { createPrincipalLookup } from '../../server/auth/index.ts'
import { UsageError } from '../exit.ts'
import { callerName } from '../invocation.ts'
import { readCliConfig } from './config.ts'
import { openDataStore } from './data-store.ts'
import { withHubOf } from './with-hub.ts'

/** What they say is wrong with the words of the command line. */
const OF_WORDS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INPUT_SCHEMA_INVALID',
  'NOT_FOUND',
  'CONFLICT',
  'TOOL_NOT_FOUND',
  'BUDGET_EXCEEDED',
])

/** The hub of the data folder as the service has it: work of others that is done here looks their tokens up. */
export async function withServiceHub<T>(
  flags: { readonly config?: string },
  use: (hub: Hub, options: HubOptions) => Promise<T>,
): Promise<T> {
  const { options } = await readCliConfig(flags)
  const store = openDataStore(options)
  const principals = createPrincipalLookup(store, Date.now)
  const whole = { caller: callerName(), ...options, store, principals }
  try {
    return await withHubOf(whole, (hub) => use(hub, whole))
  } catch (error) {
    if (!ToolError.is(error) || !OF_WORDS.has(error.code)) throw error
    throw new UsageError(error.message, error.fix.hint)
  } finally {
    await store.close()
  }
}
