import { type CoreToolsConfig, didYouMean, type HubOptions, ToolError } from '../core/index.ts'

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

/** Translates S0's CoreToolsConfig. */
export function fromCoreToolsConfig(config: CoreToolsConfig): CoreToolsOptions {
  for (const [key, value] of Object.entries(config)) if (value !== undefined) checkEntry(key, value)
  return {
    sandbox: {
      ...(config.sandboxRoot === undefined ? {} : { workspaces: config.sandboxRoot }),
      ...(config.allowedHosts === undefined ? {} : { network: config.allowedHosts }),
      ...(config.blockedCidrs === undefined ? {} : { blockedRanges: config.blockedCidrs }),
    },
    limits: {
      ...(config.defaultTimeoutMs === undefined ? {} : { httpTimeoutMs: config.defaultTimeoutMs }),
      ...(config.maxReadBytes === undefined ? {} : { readBytes: config.maxReadBytes }),
      ...(config.maxHttpBytes === undefined ? {} : { httpBytes: config.maxHttpBytes }),
      ...(config.maxDownloadBytes === undefined ? {} : { downloadBytes: config.maxDownloadBytes }),
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

function isAmount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}
