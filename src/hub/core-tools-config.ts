import { BlockList, isIP } from 'node:net'
import { ToolError } from '../errors.ts'
import { didYouMean } from '../names.ts'
import type { CoreToolsConfig, HubOptions } from '../options.ts'

/** What S0's configuration says in the hub's own words. */
export interface CoreToolsOptions extends Required<Pick<HubOptions, 'sandbox' | 'limits'>> {
  readonly userAgent?: string
}

/** What each key must be; a key that is not here is refused. */
const CHECKS: Readonly<Record<keyof CoreToolsConfig, (value: unknown) => boolean>> = {
  sandboxRoot: isText,
  maxReadBytes: isAmount,
  maxHttpBytes: isAmount,
  maxDownloadBytes: isAmount,
  allowedHosts: isTexts,
  blockedCidrs: isTexts,
  defaultTimeoutMs: isAmount,
  httpUserAgent: (value) => isText(value) && /^[\x20-\x7e]+$/.test(value as string),
  enableAutoWriteLargeResponses: (value) => typeof value === 'boolean',
}

/** Ranges the network guard refuses in any case. */
const ALWAYS_BLOCKED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/127',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
]

/** Translates S0's CoreToolsConfig; large responses always become artifacts, so that switch has nothing to change. */
export function fromCoreToolsConfig(config: CoreToolsConfig): CoreToolsOptions {
  for (const [key, value] of Object.entries(config)) if (value !== undefined) checkEntry(key, value)
  for (const range of config.blockedCidrs ?? []) checkBlocked(range)
  return {
    sandbox: {
      ...(config.sandboxRoot === undefined ? {} : { root: config.sandboxRoot }),
      ...(config.allowedHosts === undefined ? {} : { network: config.allowedHosts }),
    },
    limits: {
      ...(config.defaultTimeoutMs === undefined ? {} : { timeoutMs: config.defaultTimeoutMs }),
      ...(config.maxReadBytes === undefined ? {} : { readBytes: config.maxReadBytes }),
      ...(config.maxHttpBytes === undefined ? {} : { httpBytes: config.maxHttpBytes }),
    },
    ...(config.httpUserAgent === undefined ? {} : { userAgent: config.httpUserAgent }),
  }
}

function checkEntry(key: string, value: unknown): void {
  const isFine = Object.hasOwn(CHECKS, key) ? CHECKS[key as keyof CoreToolsConfig] : undefined
  if (!isFine) {
    const known = Object.keys(CHECKS)
    throw new ToolError('CONFIG_INVALID', `core.${key} is not known.`, {
      hint: `${didYouMean(key, known)} Known: ${known.join(', ')}.`.trim(),
    })
  }
  if (isFine(value)) return
  throw new ToolError('CONFIG_INVALID', `core.${key} cannot be ${JSON.stringify(value)}.`, {
    fix: { key: `core.${key}` },
  })
}

/** A range that nobody would hold back must not look as if it were blocked. */
function checkBlocked(range: string): void {
  if (ALWAYS_BLOCKED.some((blocked) => contains(blocked, range))) return
  throw new ToolError(
    'CONFIG_INVALID',
    `core.blockedCidrs: ${JSON.stringify(range)} is not inside a private or special range.`,
    {
      hint: 'Those are always blocked. To keep public addresses out, name only the hosts you want in allowedHosts.',
    },
  )
}

function contains(outer: string, inner: string): boolean {
  const [network, bits] = splitRange(outer)
  const [address, innerBits] = splitRange(inner)
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(address) !== isIP(network) || !(innerBits >= bits && innerBits <= (family === 'ipv6' ? 128 : 32)))
    return false
  const list = new BlockList()
  list.addSubnet(network, bits, family)
  return list.check(address, family)
}

function splitRange(range: string): [address: string, bits: number] {
  const [address = '', bits = ''] = range.split('/')
  return [address, /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN]
}

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}
