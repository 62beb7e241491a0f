import { CACHE_NAMES, DEFAULT_COMMAND_LIMITS, DEFAULT_LIMITS, type FeatureConfig } from '@tool-hub/core'
import {
  countSchema,
  duration,
  formatDuration,
  formatSize,
  key,
  programAccessSchema,
  rate,
  size,
  text,
} from '@tool-hub/core/config'
import { z } from 'zod'
import { coreSchema } from './core-schema.ts'
import { featureConfigs } from './generated/index.ts'
import { mcpServersSchema } from './mcp-servers.ts'
import { policySectionSchema, policyToolsSchema, rulesSchema } from './policy-schema.ts'
import { recordsSchema } from './records.ts'
import { serviceSections } from './service.ts'
import { storeSchema } from './store.ts'

const budget = {
  calls: key(countSchema, 'Most calls in all.'),
  time: key(duration, 'Most time in all.'),
  bytes: key(size, 'Most bytes returned in all.'),
  cost: key(z.number().min(0), 'Most cost units in all.'),
}

/** What one run, or one session, may use in all. */
const budgetSchema = z.strictObject(budget)

const toolLimits = z.strictObject({
  ...budget,
  rate: key(rate, 'Rate at which this tool may be called.'),
  concurrency: key(z.int().min(1), 'Concurrent calls of this tool.'),
})

/** What one command may use. */
const commandLimits = z.strictObject({
  cpu: key(duration, 'Most processor time.', formatDuration(DEFAULT_COMMAND_LIMITS.cpuMs)),
  memory: key(size, 'Most memory.', formatSize(DEFAULT_COMMAND_LIMITS.memoryBytes)),
  processes: key(z.int().min(1), 'Concurrent processes and threads.', DEFAULT_COMMAND_LIMITS.processes),
  file: key(size, 'The largest file that it may write.', formatSize(DEFAULT_COMMAND_LIMITS.fileBytes)),
  files: key(z.int().min(16), 'Open files.', DEFAULT_COMMAND_LIMITS.openFiles),
  disk: key(size, 'Most disk space that it may add; then it is ended.', formatSize(DEFAULT_COMMAND_LIMITS.diskBytes)),
  newFiles: key(
    z.int().min(1),
    'Most files and folders that it may create; then it is ended.',
    DEFAULT_COMMAND_LIMITS.newFiles,
  ),
  output: key(size, 'Most bytes that it may print; then it is ended.', formatSize(DEFAULT_COMMAND_LIMITS.outputBytes)),
})

/** Bounds on calls, with units; budgets of the run may stand at the top. */
const limitsSchema = z
  .strictObject({
    timeout: key(
      duration,
      'Time limit of one call; commands have their own.',
      formatDuration(DEFAULT_LIMITS.timeoutMs),
    ),
    output: key(
      size,
      'Most characters of text that a model gets from one call; the whole text is kept as an artifact. Tools set their own limit, most of them 30KB; this key can only lower it.',
    ),
    input: key(size, 'Most bytes of the arguments of one call.', formatSize(DEFAULT_LIMITS.inputBytes)),
    depth: key(z.int().min(1), 'Deepest nesting of arguments.', DEFAULT_LIMITS.inputDepth),
    entries: key(
      z.int().min(1),
      'Most keys and elements of the arguments of one call, all together.',
      DEFAULT_LIMITS.inputEntries,
    ),
    read: key(
      size,
      'Maximum number of bytes read from a file in one operation. Without this key a call may ask for up to 10 MiB.',
      formatSize(DEFAULT_LIMITS.readBytes),
    ),
    http: key(
      size,
      'Most bytes of one response. Without this key a call may ask for up to 10 MiB.',
      formatSize(DEFAULT_LIMITS.httpBytes),
    ),
    httpTimeout: key(
      duration,
      'Time limit of one request, including redirects, retries and body.',
      formatDuration(DEFAULT_LIMITS.httpTimeoutMs),
    ),
    download: key(size, 'Most bytes of one download.', formatSize(DEFAULT_LIMITS.downloadBytes)),
    undo: key(size, 'Most bytes of replaced content that a run keeps for undo.', formatSize(DEFAULT_LIMITS.undoBytes)),
    commands: key(commandLimits, 'What one command may use.'),
    calls: key(countSchema, 'Most calls of a run; short for run.calls.'),
    time: key(duration, 'Most time of a run in all; short for run.time.'),
    bytes: key(size, 'Most bytes returned in a run; short for run.bytes.'),
    cost: key(z.number().min(0), 'Most cost units of a run; short for run.cost.'),
    run: key(budgetSchema, 'What one run may use in all.'),
    session: key(budgetSchema, 'What one session may use in all.'),
    tools: key(z.record(z.string(), toolLimits), 'What one tool may use, by its name.'),
    rate: key(rate, 'Rate at which tools may be called, all together.'),
    concurrency: key(z.int().min(1), 'Concurrent calls.'),
  })
  .superRefine((limits, ctx) => {
    for (const name of Object.keys(budget) as (keyof typeof budget)[]) {
      if (limits[name] === undefined || limits.run?.[name] === undefined) continue
      ctx.addIssue({ code: 'custom', path: [name], message: `is also set as limits.run.${name}; keep one of them.` })
    }
  })

/** The keys that make `tools` a visibility section; anything else makes it the policy of each tool. */
export const VISIBILITY_KEYS: readonly string[] = ['profile', 'allow', 'also', 'deny']

/** Which tools an agent sees. */
const visibilitySchema = z.strictObject({
  profile: key(z.enum(['minimal', 'coding', 'messaging', 'full']), 'A ready-made choice of tools.'),
  allow: key(z.array(text), 'If not empty, only these are visible: names, dialect names, group:NAME.'),
  also: key(z.array(text), 'Tools that are visible in addition to those of profile and allow.'),
  deny: key(z.array(text), 'Tools that are hidden; wins over allow and also.'),
})

const root = z.strictObject({
  path: text.describe('The folder.'),
  mode: z.enum(['read', 'write']).describe('What tools may do there.'),
  untrusted: key(z.boolean(), 'Whether what is read there counts as untrusted content from outside.', false),
})

const ranges = z.array(z.union([z.cidrv4(), z.cidrv6()]))

const commandSandbox = z.strictObject({
  readable: key(z.array(text), 'Further files and folders that commands can read.', []),
  writable: key(z.array(text), 'Further folders that commands can write.', []),
  caches: key(z.array(z.enum(CACHE_NAMES)), 'Package caches in your home folder that commands share.', []),
  env: key(z.array(text), 'Names of environment variables of tool-hub that commands get.', []),
  secrets: key(z.enum(['hidden', 'visible']), 'Whether commands see files such as .env and *.pem.', 'hidden'),
  level: key(
    z.enum(['full', 'namespaces', 'none']),
    'A weaker sandbox level than this machine supports. Default: the strongest.',
  ),
  prepared: key(
    z.int().min(0).max(16),
    'How many sandboxes are prepared in advance, so that the next command starts without delay.',
    2,
  ),
})

const sandbox = z.strictObject({
  root: key(
    text,
    "The folder that tools read and write. Default: the run's own workspace; the current folder for call, exec, batch and mcp.",
  ),
  workspaces: key(text, 'Folder in which each run has its own <run-id>/workspace; used if no root is set.'),
  roots: key(z.array(root), 'Further folders.'),
  protect: key(
    z.array(text),
    'Files and folders that tools never change; this config, its policy files and its plugins are always among them.',
  ),
  network: key(z.array(text), 'Hosts that tools can reach: api.github.com, *.example.org.', []),
  privateRanges: key(ranges, 'Private address ranges that tools may reach, as CIDR: 10.1.0.0/16.', []),
  blockedRanges: key(ranges, 'Address ranges that stay closed, in addition to those that always are.', []),
  required: key(
    z.boolean(),
    'false lets your rules allow commands even if this machine cannot sandbox them; otherwise every command needs approval there.',
    true,
  ),
  commands: key(commandSandbox, 'What commands get in addition to the roots.'),
})

const secret = z.strictObject({
  env: text.describe('The environment variable that holds it.'),
  hosts: z.array(text).min(1).describe('Hosts to which it may be sent: api.github.com, *.example.org.'),
})

const search = z.strictObject({
  provider: z.enum(['tavily', 'brave', 'searxng']).describe('The search service.'),
  url: key(text, "URL of the service. Default: the provider's public address."),
  secret: key(text, "Name of the secret with its key. Default: the provider's own name."),
})

const web = z.strictObject({ search: key(search, 'How core/web.search searches.') })

const approvals = z.strictObject({
  timeout: key(
    duration,
    'How long an approval or a question waits for its answer.',
    formatDuration(DEFAULT_LIMITS.approvalMs),
  ),
  inbox: key(
    z.boolean(),
    'Keeps approvals and questions in the store, so that tool-hub approvals can answer them from another process.',
    false,
  ),
  elicitation: key(
    z.boolean(),
    'Whether MCP clients that can show a form are asked for approvals. Default: true, except with inbox or unauthenticated HTTP.',
  ),
})

const runs = z.strictObject({
  folder: key(text, 'Folder of the run records.', './runs'),
  keep: key(
    duration,
    'Removes runs whose last record is older than this, e.g. 90d; the removal is recorded. Default: none are removed.',
  ),
  size: key(
    size,
    'Removes the oldest runs until the rest take at most this, e.g. 20GB; the removal is recorded. Default: no limit.',
  ),
})

const redact = z.strictObject({
  keys: key(z.array(text), 'Further names of keys whose values are secrets.'),
  env: key(z.array(text), 'Environment variables whose values are secrets.'),
})

const pluginOptions = z.record(z.string(), z.unknown())

const plugin = z.union([
  text,
  z.tuple([text, pluginOptions]),
  z.strictObject({
    use: text.describe('A path or a package.'),
    options: key(pluginOptions, 'Options that its function receives.'),
    isolate: key(
      programAccessSchema,
      'Runs it in a sandboxed process of its own. See docs/reference/plugins.md.',
      false,
    ),
    required: key(
      z.boolean(),
      'false continues without the plugin if it does not load; its hooks then guard nothing.',
      true,
    ),
  }),
])

type Sections<Configs> = {
  [Name in keyof Configs]: Configs[Name] extends FeatureConfig<infer Schema> ? z.ZodOptional<Schema> : never
}

/** The sections of features, each with its description. */
function featureSections<Configs extends Readonly<Record<string, FeatureConfig>>>(configs: Configs): Sections<Configs> {
  const sections = Object.entries(configs).map(([name, { schema, description }]) => [name, key(schema, description)])
  return Object.fromEntries(sections)
}

/** Keys that are options of the hub as they are written; the others are converted by `toOptions`. */
export const plainOptions = {
  durability: key(
    z.enum(['effects', 'full', 'behind', 'shared']),
    'What is synced to disk before a call returns: calls with side effects, every call, or nothing; shared also waits until other machines can read it. Default: effects; shared if store is a database.',
  ),
  caller: key(text, 'Recorded caller of calls that name none.'),
}

/** Everything that `tool-hub.yaml` may contain; every key is optional. */
export const configSchema = z.strictObject({
  $schema: key(z.string(), 'Where editors find this schema.'),
  version: key(z.literal(1), 'The version of this format.', 1),
  tools: key(
    z.union([visibilitySchema, policyToolsSchema]),
    'Which tools an agent sees (profile, allow, also, deny); or the tools of a policy.yaml (default, one entry per tool).',
  ),
  policy: key(
    z.union([...rulesSchema.options, policySectionSchema]),
    'What tools may do: a list of rules, the path of a policy.yaml, or a mapping of rules and shadow.',
  ),
  sandbox: key(sandbox, 'Which files, hosts and machine resources tools can reach.'),
  core: key(
    coreSchema,
    'Settings of the core tools under the names of CoreToolsConfig; sandbox and limits take precedence.',
  ),
  secrets: key(
    z.record(z.string().regex(/^[a-zA-Z][\w.-]{0,63}$/), secret),
    'Secrets that tools use by name in a header and never see. See docs/reference/web.md.',
  ),
  web: key(web, 'The web tools.'),
  limits: key(limitsSchema, 'Limits on calls. Times and sizes have units: 60s, 5m, 30KB (30,000), 64KiB (65,536).'),
  approvals: key(approvals, 'How people are asked for approvals and answers.'),
  runs: key(
    z.union([text, z.literal(false), runs]),
    'Folder of the run records; false keeps none; a mapping also sets how long they are kept.',
    './runs',
  ),
  data: key(
    text,
    'Folder of the state that outlives runs: the store with grants, pending approvals, keys and tokens; MCP pins and sign-ins.',
    './.tool-hub',
  ),
  store: key(
    storeSchema.meta({ examples: ['postgres://hub:${env:DB_PASSWORD}@db.example.org/hub'] }),
    'The PostgreSQL database of the store, for a hub of several processes on several machines. Default: a file in data.',
  ),
  ...plainOptions,
  records: key(recordsSchema, 'What is recorded of outputs, and how records are shared with other machines.'),
  redact: key(redact, 'What must never be recorded or returned, in addition to the secrets that are always found.'),
  plugins: key(
    z.array(plugin).meta({ examples: [['./plugins/redact.mjs', ['@acme/tool-hub-jira', { project: 'OPS' }]]] }),
    'Tools and hooks to load: a path or a package, alone or with options.',
  ),
  mcpServers: key(
    mcpServersSchema.meta({
      examples: [{ github: { command: 'npx', args: ['-y', 'some-mcp-server'], env: { TOKEN: '${secret:github}' } } }],
    }),
    'MCP servers that add tools to the hub, as mcp/NAME.TOOL; in the format of Claude, Cursor and VS Code.',
  ),
  skills: key(z.array(text), 'Folders of skills; a skill is a folder with a SKILL.md.'),
  ...featureSections(featureConfigs),
  ...serviceSections,
})

/** A config as it was written, checked. */
export type Config = z.output<typeof configSchema>

/** The config schema with `tools` narrowed to one of its two forms, so that a mistake is explained in the right one. */
export const configSchemas = {
  visibility: configSchema.extend({ tools: key(visibilitySchema, 'Which tools an agent sees.') }),
  policy: configSchema.extend({ tools: key(policyToolsSchema, 'The tools of a policy.yaml.') }),
} as const
