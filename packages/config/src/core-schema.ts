import { type CoreToolsConfig, DEFAULT_LIMITS, type HubOptions } from '@tool-hub/core'
import {
  duration,
  formatSize,
  key,
  parseDuration,
  parseSize,
  size,
  text,
  withoutUndefined,
} from '@tool-hub/core/config'
import { fromCoreToolsConfig } from '@tool-hub/runtime/hub'
import { resolvePath } from '@tool-hub/sandbox/system'
import { z } from 'zod'

/** `core`: the settings of the core tools under the names of CoreToolsConfig. */
export const coreSchema = z.strictObject({
  sandboxRoot: key(
    text,
    'Folder in which each request or run gets a folder of its own; the same as sandbox.workspaces.',
  ),
  maxReadBytes: key(
    size,
    'Most bytes of a read that names no maxBytes. limits.read also limits what a call may ask for.',
    formatSize(DEFAULT_LIMITS.readBytes),
  ),
  maxHttpBytes: key(
    size,
    'Most bytes of a response if the call names no maxBytes. limits.http also limits what a call may ask for.',
    formatSize(DEFAULT_LIMITS.httpBytes),
  ),
  maxDownloadBytes: key(
    size,
    'Most bytes of one download; the same as limits.download.',
    formatSize(DEFAULT_LIMITS.downloadBytes),
  ),
  allowedHosts: key(z.array(text), 'Hosts that tools can reach; the same as sandbox.network.', []),
  blockedCidrs: key(
    z.array(z.union([z.cidrv4(), z.cidrv6()])),
    'Address ranges that stay closed. Replaces the private ranges that are closed by default; loopback, link-local and metadata addresses stay closed.',
    ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
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
  const maxReadBytes = rest.maxReadBytes && parseSize(rest.maxReadBytes)
  const maxHttpBytes = rest.maxHttpBytes && parseSize(rest.maxHttpBytes)
  const { sandbox, limits } = fromCoreToolsConfig({
    ...rest,
    sandboxRoot: rest.sandboxRoot && resolvePath(base, rest.sandboxRoot),
    maxReadBytes,
    maxHttpBytes,
    maxDownloadBytes: rest.maxDownloadBytes && parseSize(rest.maxDownloadBytes),
    defaultTimeoutMs: rest.defaultTimeoutMs && parseDuration(rest.defaultTimeoutMs),
  } as CoreToolsConfig)
  const core = { maxReadBytes, maxHttpBytes, httpUserAgent, enableAutoWriteLargeResponses } as CoreToolsConfig
  return { sandbox, limits, core: withoutUndefined<CoreToolsConfig>(core) }
}
