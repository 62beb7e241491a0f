import {
  type CoreToolsConfig,
  type DatabaseOptions,
  didYouMean,
  FEATURES,
  type HubOptions,
  type Limits,
  type Sandbox,
  SERVER_NAME,
  ToolError,
} from '@tool-hub/core'
import { parseDatabaseUrl } from '../store/index.ts'
import { OPTION_KEYS } from './option-keys.generated.ts'

const SECTIONS = [
  ['visibility', OPTION_KEYS.Visibility],
  ['sandbox', OPTION_KEYS.Sandbox],
  ['limits', OPTION_KEYS.Limits],
  ['approvals', OPTION_KEYS['HubOptions.approvals']],
  ['redact', OPTION_KEYS['HubOptions.redact']],
  ['web', OPTION_KEYS.WebOptions],
] as const

/** Throws CONFIG_INVALID for unknown options: in plain JavaScript a mistyped `polcy` would silently remove all rules. */
export function checkHubOptions(options: HubOptions): void {
  checkKeys(options, [...OPTION_KEYS.HubOptions, ...FEATURES], 'createToolHub')
  for (const [section, keys] of SECTIONS) checkKeys(options[section], keys, section)
  checkKeys(options.sandbox?.commands, OPTION_KEYS.CommandSandbox, 'sandbox.commands')
  checkKeys(options.limits?.commands, OPTION_KEYS.CommandLimits, 'limits.commands')
  checkSecrets(options.secrets ?? {})
  checkMcpServers(options.mcpServers ?? {})
  const { skills = [], plugins = [], sources = [] } = options
  if (!isList(skills, (folder) => typeof folder === 'string')) throw invalid('skills takes a list of folders.', '')
  if (!isList(plugins, hasName)) throw invalid('plugins takes a list of plugins, each with a name.', '')
  if (!isList(sources, hasName)) throw invalid('sources takes a list of sources, each with a name.', '')
}

/** Throws CONFIG_INVALID for a secret without a value, usually from an environment variable that is not set. */
function checkSecrets(secrets: NonNullable<HubOptions['secrets']>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    if (typeof secret?.value === 'string' && secret.value !== '' && Array.isArray(secret.hosts)) continue
    throw invalid(`The secret ${name} needs a value and hosts.`, 'Check that its environment variable is set.')
  }
}

function checkMcpServers(servers: NonNullable<HubOptions['mcpServers']>): void {
  for (const [name, server] of Object.entries(servers)) {
    if (!SERVER_NAME.test(name)) {
      throw invalid(
        `Invalid MCP server name ${JSON.stringify(name)}.`,
        'Use letters, digits, _ and -, at most 32 characters.',
      )
    }
    const { command, url } = (server ?? {}) as { readonly command?: unknown; readonly url?: unknown }
    if ((typeof command === 'string') === (typeof url === 'string')) {
      throw invalid(`The MCP server ${name} needs either a command or a url.`, '')
    }
    checkKeys(
      server,
      typeof url === 'string' ? OPTION_KEYS.HttpMcpServer : OPTION_KEYS.StdioMcpServer,
      `mcpServers.${name}`,
    )
  }
}

function isList(value: unknown, fits: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}

function hasName(value: unknown): boolean {
  return typeof (value as { readonly name?: unknown } | null)?.name === 'string'
}

function checkKeys(value: object | undefined, known: readonly string[], where: string): void {
  if (value === undefined) return
  if (typeof value !== 'object' || value === null) throw invalid(`${where} takes an object.`, '')
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw invalid(`${where} has no option ${JSON.stringify(key)}.`, didYouMean(key, known))
  }
}

function invalid(message: string, nearest: string): ToolError {
  const hint = 'docs/reference/api.md lists the options; the keys of tool-hub.yaml are read by loadConfig.'
  return new ToolError('CONFIG_INVALID', message, { hint: nearest || hint })
}

/** The hub options that a configuration in the CoreToolsConfig format stands for. */
interface CoreToolsOptions extends Required<Pick<HubOptions, 'sandbox' | 'limits'>> {
  /** What a call gets that names no `maxBytes`. */
  readonly usual: Pick<Limits, 'readBytes' | 'httpBytes'>
  readonly userAgent?: string
}

/**
 * What `blockedCidrs` closes by default, so that naming other ranges opens it. Loopback and link-local addresses, which
 * include those of metadata services, are not part of it: only `sandbox.privateRanges` opens them.
 */
const PRIVATE_RANGES = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']

/** The check for each key of the CoreToolsConfig format. Unknown keys are refused. */
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

/** Translates a configuration in the CoreToolsConfig format. Throws CONFIG_INVALID for unknown keys and invalid values. */
export function fromCoreToolsConfig(config: CoreToolsConfig): CoreToolsOptions {
  for (const [key, value] of Object.entries(config)) if (value !== undefined) checkEntry(key, value)
  return {
    sandbox: {
      ...(config.sandboxRoot === undefined ? {} : { workspaces: config.sandboxRoot }),
      ...(config.allowedHosts === undefined ? {} : { network: config.allowedHosts }),
      ...(config.blockedCidrs === undefined
        ? {}
        : { privateRanges: PRIVATE_RANGES, blockedRanges: config.blockedCidrs }),
    },
    limits: {
      ...(config.defaultTimeoutMs === undefined ? {} : { httpTimeoutMs: config.defaultTimeoutMs }),
      ...(config.maxDownloadBytes === undefined ? {} : { downloadBytes: config.maxDownloadBytes }),
    },
    usual: {
      ...(config.maxReadBytes === undefined ? {} : { readBytes: config.maxReadBytes }),
      ...(config.maxHttpBytes === undefined ? {} : { httpBytes: config.maxHttpBytes }),
    },
    ...(config.httpUserAgent === undefined ? {} : { userAgent: config.httpUserAgent }),
  }
}

/** The sandbox of both: the own settings replace those of CoreToolsConfig, except that what either blocks stays closed. */
export function mergeSandbox(core: Sandbox | undefined, own: Sandbox | undefined): Sandbox {
  const blockedRanges = [...(core?.blockedRanges ?? []), ...(own?.blockedRanges ?? [])]
  return { ...core, ...own, ...(blockedRanges.length > 0 && { blockedRanges }) }
}

function checkEntry(key: string, value: unknown): void {
  const isFine = Object.hasOwn(CHECKS, key) ? CHECKS[key as keyof CoreToolsConfig] : undefined
  if (!isFine) {
    const known = Object.keys(CHECKS)
    throw new ToolError('CONFIG_INVALID', `Unknown key core.${key}.`, {
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

/** The password of a database, as it is and as it stands in the URL. */
function passwordsOf({ url, tls }: DatabaseOptions): string[] {
  const { password } = parseDatabaseUrl(url)
  const key = tls ? tls.key : undefined
  return [password, decodeURIComponent(password), key].filter(
    (value) => value !== undefined && value !== '',
  ) as string[]
}

const SECRET_NAME = /TOKEN|SECRET|PASS|AUTH|CREDENTIAL|(^|_)KEY($|_)/i

/** Adds the values of the owner's secrets to what is redacted: tools use them by name and must not reveal them. */
export function secretsOf({
  redact,
  secrets = {},
  sandbox,
  database,
  records,
}: HubOptions): NonNullable<HubOptions['redact']> {
  const passed = (sandbox?.commands?.env ?? []).filter((name) => SECRET_NAME.test(name))
  const values = [
    ...Object.values(secrets).map(({ value }) => value),
    ...passed.flatMap((name) => process.env[name] ?? []),
    ...(database ? passwordsOf(database) : []),
    ...(records?.bucket ? [records.bucket.secretAccessKey, records.bucket.sessionToken ?? []].flat() : []),
  ]
  return { ...redact, values: [...(redact?.values ?? []), ...values] }
}
