import type { HubChanged } from '../records/log/index.ts'
import type { Assembly } from './create-runtime.ts'

/** Puts on record, in the hub's own run, that somebody has changed how it works; on the disk itself when it resolves. */
export async function recordChange(
  { parts, defaultRun }: Pick<Assembly, 'parts' | 'defaultRun'>,
  change: Omit<HubChanged, 'type'>,
): Promise<void> {
  const { records } = await parts.run(defaultRun)
  records?.append(parts.redactor.value({ type: 'hub-changed', ...change }))
  await records?.synced()
}
