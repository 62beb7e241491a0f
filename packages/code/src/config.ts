import { defineConfig } from '@tool-hub/core'
import { duration, key, parseDuration, parseSize, size, withoutUndefined } from '@tool-hub/core/config'
import { z } from 'zod'
import type { CodeOptions } from './types.ts'

const section = z.strictObject({
  enabled: key(z.boolean(), 'Whether agents may run scripts.', true),
  workers: key(
    z.int().min(1).max(64),
    'How many scripts run at the same time; one principal has at most half of them.',
    8,
  ),
  timeout: key(duration, 'Longest time of a script, without waiting for people or for a worker.', '60s'),
  cpu: key(duration, 'Longest time in which a script itself computes.', '10s'),
  memory: key(size, 'Memory of a script.', '64MB'),
  calls: key(z.int().min(1).max(10_000), 'Maximum number of calls of a script.', 256),
  suspendAfter: key(duration, 'How long a script waits for people before it is suspended.', '20s'),
})

/** The section `code` of the config file. */
export const codeConfig = defineConfig({
  description: 'Scripts of a model that call tools; docs/reference/code.md.',
  schema: section,
  toOptions: toCode,
  turnsToolsOff: ({ enabled = true }: CodeOptions) => !enabled,
})

function toCode({
  enabled,
  workers,
  timeout,
  cpu,
  memory,
  calls,
  suspendAfter,
}: z.output<typeof section>): CodeOptions {
  const time = (text: string | number | undefined) => (text === undefined ? undefined : parseDuration(text))
  return withoutUndefined<CodeOptions>({
    enabled,
    workers,
    timeoutMs: time(timeout),
    cpuMs: time(cpu),
    memoryBytes: memory === undefined ? undefined : parseSize(memory),
    maxCalls: calls,
    suspendAfterMs: time(suspendAfter),
  })
}
