import {
  type CommandLimits,
  type CommandSandbox,
  type CoreToolsConfig,
  type DatabaseOptions,
  didYouMean,
  FEATURES,
  type FeatureOptions,
  type HttpMcpServer,
  type HubOptions,
  type Limits,
  type Sandbox,
  SERVER_NAME,
  type StdioMcpServer,
  ToolError,
  type Visibility,
  type WebOptions,
} from '../core/index.ts'

/** All keys of an options type: the compiler reports one that is missing here. */
type Keys<T> = Readonly<Record<keyof Required<T>, true>>

const OPTIONS: Keys<HubOptions> = {
  tools: true,
  plugins: true,
  sources: true,
  mcpServers: true,
  skills: true,
  hooks: true,
  visibility: true,
  policy: true,
  shadowPolicy: true,
  requests: true,
  sandbox: true,
  limits: true,
  core: true,
  secrets: true,
  web: true,
  ...featureKeys(),
  principals: true,
  approve: true,
  approvals: true,
  onQuestion: true,
  onClarificationRequest: true,
  runs: true,
  data: true,
  store: true,
  database: true,
  durability: true,
  records: true,
  run: true,
  caller: true,
  redact: true,
  clock: true,
}
/** The options of each feature have the name of the feature. */
function featureKeys(): Keys<FeatureOptions> {
  return Object.fromEntries(FEATURES.map((name) => [name, true])) as Keys<FeatureOptions>
}

const SANDBOX: Keys<Sandbox> = {
  root: true,
  workspaces: true,
  roots: true,
  protect: true,
  network: true,
  privateRanges: true,
  blockedRanges: true,
  required: true,
  commands: true,
}
const LIMITS: Keys<Limits> = {
  timeoutMs: true,
  outputChars: true,
  inputBytes: true,
  inputDepth: true,
  inputEntries: true,
  run: true,
  shortKeys: true,
  session: true,
  tools: true,
  rate: true,
  concurrency: true,
  readBytes: true,
  httpBytes: true,
  httpTimeoutMs: true,
  downloadBytes: true,
  undoBytes: true,
  commands: true,
}
const VISIBILITY: Keys<Visibility> = { profile: true, allow: true, deny: true }
const APPROVALS: Keys<NonNullable<HubOptions['approvals']>> = { timeoutMs: true, inbox: true, elicitation: true }
const REDACT: Keys<NonNullable<HubOptions['redact']>> = { values: true, keys: true }
const WEB: Keys<WebOptions> = { search: true }
const COMMAND_SANDBOX: Keys<CommandSandbox> = {
  readable: true,
  writable: true,
  caches: true,
  env: true,
  secrets: true,
  level: true,
  prepared: true,
}
const COMMAND_LIMITS: Keys<CommandLimits> = {
  cpuMs: true,
  memoryBytes: true,
  processes: true,
  fileBytes: true,
  openFiles: true,
  diskBytes: true,
  newFiles: true,
  outputBytes: true,
}

const ANY_SERVER = { type: true, disabled: true, trust: true, timeoutMs: true, startTimeoutMs: true } as const
const STDIO_SERVER: Keys<StdioMcpServer> = {
  ...ANY_SERVER,
  command: true,
  args: true,
  env: true,
  cwd: true,
  sandbox: true,
}
const HTTP_SERVER: Keys<HttpMcpServer> = { ...ANY_SERVER, url: true, headers: true, oauth: true }

const SECTIONS = new Map<keyof HubOptions, object>([
  ['visibility', VISIBILITY],
  ['sandbox', SANDBOX],
  ['limits', LIMITS],
  ['approvals', APPROVALS],
  ['redact', REDACT],
  ['web', WEB],
])

/** Throws CONFIG_INVALID for unknown options: in plain JavaScript a mistyped `polcy` would silently remove all rules. */
export function checkHubOptions(options: HubOptions): void {
  checkKeys(options, OPTIONS, 'createToolHub')
  for (const [section, keys] of SECTIONS) checkKeys(options[section] as object | undefined, keys, section)
  checkKeys(options.sandbox?.commands, COMMAND_SANDBOX, 'sandbox.commands')
  checkKeys(options.limits?.commands, COMMAND_LIMITS, 'limits.commands')
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
    checkKeys(server, typeof url === 'string' ? HTTP_SERVER : STDIO_SERVER, `mcpServers.${name}`)
  }
}

function isList(value: unknown, fits: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(fits)
}

function hasName(value: unknown): boolean {
  return typeof (value as { readonly name?: unknown } | null)?.name === 'string'
}

function checkKeys(value: object | undefined, keys: object, where: string): void {
  if (value === undefined) return
  if (typeof value !== 'object' || value === null) throw invalid(`${where} takes an object.`, '')
  const known = Object.keys(keys)
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
  readonly userAgent?: string
}

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
  const { password } = new URL(url)
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
