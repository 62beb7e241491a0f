import { z } from 'zod'
import type { CoreToolsConfig, HubOptions } from '../core/index.ts'
import { fromCoreToolsConfig } from '../hub/index.ts'
import { resolvePath } from './resolve-path.ts'
import { duration, key, size, text } from './schema-parts.ts'
import { parseDuration, parseSize } from './units.ts'
import { withoutUndefined } from './without-undefined.ts'

/** `core`: the settings of the core tools under the names of CoreToolsConfig. */
export const coreSchema = z.strictObject({
  sandboxRoot: key(text, 'A folder below which each request or run has its own folder; as sandbox.workspaces.'),
  maxReadBytes: key(size, 'Most bytes that one read returns; the same as limits.read.', '5MiB'),
  maxHttpBytes: key(size, 'Most bytes of one response; as limits.http.', '5MiB'),
  maxDownloadBytes: key(size, 'Most bytes of one download; as limits.download.', '100MiB'),
  allowedHosts: key(z.array(text), 'Hosts that tools reach; as sandbox.network.', []),
  blockedCidrs: key(
    z.array(z.union([z.cidrv4(), z.cidrv6()])),
    'Address ranges that stay closed; as sandbox.blockedRanges.',
    [],
  ),
  defaultTimeoutMs: key(duration, 'Longest time of one request; as limits.httpTimeout.', 15_000),
  httpUserAgent: key(text, 'What requests say that they come from.'),
  enableAutoWriteLargeResponses: key(
    z.boolean(),
    'Writes all of an answer that is over maxBytes to a file of the sandbox, and returns its path.',
    false,
  ),
})

/** What `core` says: limits and sandbox in the words of their own sections, and the rest. */
export function toCore(
  written: z.output<typeof coreSchema>,
  base: string,
): Required<Pick<HubOptions, 'core' | 'limits' | 'sandbox'>> {
  const { httpUserAgent, enableAutoWriteLargeResponses, ...rest } = written
  const { sandbox, limits } = fromCoreToolsConfig({
    ...rest,
    sandboxRoot: rest.sandboxRoot && resolvePath(base, rest.sandboxRoot),
    maxReadBytes: rest.maxReadBytes && parseSize(rest.maxReadBytes),
    maxHttpBytes: rest.maxHttpBytes && parseSize(rest.maxHttpBytes),
    maxDownloadBytes: rest.maxDownloadBytes && parseSize(rest.maxDownloadBytes),
    defaultTimeoutMs: rest.defaultTimeoutMs && parseDuration(rest.defaultTimeoutMs),
  } as CoreToolsConfig)
  return { sandbox, limits, core: withoutUndefined<CoreToolsConfig>({ httpUserAgent, enableAutoWriteLargeResponses }) }
}
