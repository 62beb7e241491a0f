import { z } from 'zod'
import {
  duration,
  formatSize,
  key,
  parseDuration,
  parseSize,
  size,
  text,
  withoutUndefined,
} from '../core/config/index.ts'
import { type CoreToolsConfig, DEFAULT_LIMITS, type HubOptions } from '../core/index.ts'
import { fromCoreToolsConfig } from '../hub/index.ts'
import { resolvePath } from '../system/index.ts'

/** `core`: the settings of the core tools under the names of CoreToolsConfig. */
export const coreSchema = z.strictObject({
  sandboxRoot: key(
    text,
    'Folder in which each request or run gets a folder of its own; the same as sandbox.workspaces.',
  ),
  maxReadBytes: key(
    size,
    'Most bytes that one read returns; the same as limits.read.',
    formatSize(DEFAULT_LIMITS.readBytes),
  ),
  maxHttpBytes: key(size, 'Most bytes of one response; the same as limits.http.', formatSize(DEFAULT_LIMITS.httpBytes)),
  maxDownloadBytes: key(
    size,
    'Most bytes of one download; the same as limits.download.',
    formatSize(DEFAULT_LIMITS.downloadBytes),
  ),
  allowedHosts: key(z.array(text), 'Hosts that tools can reach; the same as sandbox.network.', []),
  blockedCidrs: key(
    z.array(z.union([z.cidrv4(), z.cidrv6()])),
    'Address ranges that stay closed; the same as sandbox.blockedRanges.',
    [],
  ),
  defaultTimeoutMs: key(
    duration,
    'Time limit of one request; the same as limits.httpTimeout.',
    DEFAULT_LIMITS.httpTimeoutMs,
  ),
  httpUserAgent: key(text, 'The User-Agent header of requests.'),
  enableAutoWriteLargeResponses: key(
    z.boolean(),
    'Writes a response that is larger than maxBytes to a file in the sandbox, and returns its path.',
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
