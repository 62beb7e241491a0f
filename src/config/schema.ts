import { z } from 'zod'
import { CACHE_NAMES } from '../core/index.ts'
import { browserSchema } from './browser-schema.ts'
import { canvasSchema } from './canvas-schema.ts'
import { coreSchema } from './core-schema.ts'
import { fenceSchema, mcpServersSchema } from './mcp-schema.ts'
import { memorySchema } from './memory-schema.ts'
import { messagesSchema } from './messages-schema.ts'
import { policyToolsSchema, ruleSchema } from './policy-schema.ts'
import { schedulesSchema } from './schedules-schema.ts'
import { countSchema, duration, key, rate, size, text } from './schema-parts.ts'
import { serviceSchema } from './service-schema.ts'
import { sessionsSchema } from './sessions-schema.ts'

const budget = {
  calls: key(countSchema, 'Most calls.'),
  time: key(duration, 'Most time in all.'),
  bytes: key(size, 'Most bytes returned in all.'),
  cost: key(z.number().min(0), 'Most cost units in all.'),
}

/** What one run, or one session, may use in all. */
const budgetSchema = z.strictObject(budget)

const toolLimits = z.strictObject({
  ...budget,
  rate: key(rate, 'How fast this tool may be called.'),
  concurrency: key(z.int().min(1), 'Calls of this tool at the same time.'),
})

/** What one command may use. */
const commandLimits = z.strictObject({
  cpu: key(duration, 'Most processor time.', '10m'),
  memory: key(size, 'Most memory.', '2GB'),
  processes: key(z.int().min(1), 'Concurrent processes and threads.', 256),
  file: key(size, 'The largest file that it may write.', '1GB'),
  files: key(z.int().min(16), 'Open files.', 1024),
  disk: key(size, 'Most disk space that it may add; then it is ended.', '10GB'),
  newFiles: key(z.int().min(1), 'Most files and folders that it may create; then it is ended.', 500_000),
  output: key(size, 'Most bytes that it may print; then it is ended.', '1GB'),
})

/** Bounds on calls, with units; budgets of the run may stand at the top. */
const limitsSchema = z
  .strictObject({
    timeout: key(duration, 'Longest time of one call; commands have their own.', '60s'),
    output: key(
      size,
      'Most characters of text that a model gets of one call; the whole is kept as an artifact. Tools set their own, most of them 30KB; this only lowers it.',
    ),
    input: key(size, 'Most bytes of the arguments of one call.', '10MB'),
    depth: key(z.int().min(1), 'Deepest nesting of arguments.', 64),
    entries: key(z.int().min(1), 'Most keys and elements of the arguments of one call, all together.', 50_000),
    read: key(
      size,
      'Maximum number of bytes read from a file in one operation. Without this key a call may ask for up to 10 MiB.',
      '5MiB',
    ),
    http: key(size, 'Most bytes of one response. Without this key a call may ask for up to 10 MiB.', '5MiB'),
    httpTimeout: key(duration, 'Longest time of one request, with redirects, retries and body.', '15s'),
    download: key(size, 'Most bytes of one download.', '100MiB'),
    undo: key(size, 'Most bytes that a run keeps of what its changes replaced, so that undo brings it back.', '200MB'),
    commands: key(commandLimits, 'What one command may use.'),
    calls: key(countSchema, 'Most calls of a run; short for run.calls.'),
    time: key(duration, 'Most time of a run in all; short for run.time.'),
    bytes: key(size, 'Most bytes returned in a run; short for run.bytes.'),
    cost: key(z.number().min(0), 'Most cost units of a run; short for run.cost.'),
    run: key(budgetSchema, 'What one run may use in all.'),
    session: key(budgetSchema, 'What one session may use in all.'),
    tools: key(z.record(z.string(), toolLimits), 'What one tool may use, by its name.'),
    rate: key(rate, 'How fast tools may be called.'),
    concurrency: key(z.int().min(1), 'Calls at the same time.'),
  })
  .superRefine((limits, ctx) => {
    for (const name of Object.keys(budget) as (keyof typeof budget)[]) {
      if (limits[name] === undefined || limits.run?.[name] === undefined) continue
      ctx.addIssue({ code: 'custom', path: [name], message: `is also said as limits.run.${name}; keep one.` })
    }
  })

/** The keys that make `tools` the visibility of S3; anything else makes it a policy by tool. */
export const VISIBILITY_KEYS: readonly string[] = ['profile', 'allow', 'deny']

/** Which tools an agent sees. */
const visibilitySchema = z.strictObject({
  profile: key(z.enum(['minimal', 'coding', 'messaging', 'full']), 'A ready-made choice of tools.'),
  allow: key(z.array(text), 'When not empty, nothing else is visible: names, dialect names, group:NAME.'),
  deny: key(z.array(text), 'Hidden; wins over allow.'),
})

const root = z.strictObject({
  path: text.describe('The folder.'),
  mode: z.enum(['read', 'write']).describe('What tools may do there.'),
  untrusted: key(z.boolean(), 'What is read there counts as content from outside.', false),
})

const ranges = z.array(z.union([z.cidrv4(), z.cidrv6()]))

const commandSandbox = z.strictObject({
  readable: key(z.array(text), 'Further files and folders that commands see.', []),
  writable: key(z.array(text), 'Further folders that commands may change.', []),
  caches: key(z.array(z.enum(CACHE_NAMES)), 'Package caches of your home that commands share.', []),
  env: key(z.array(text), 'Variables of the environment of tool-hub that commands get, by name.', []),
  secrets: key(z.enum(['hidden', 'visible']), 'Whether commands see files such as .env and *.pem.', 'hidden'),
  level: key(z.enum(['full', 'namespaces', 'none']), 'A weaker fence than this machine could have.'),
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
  workspaces: key(text, 'A folder below which each run has its own <run-id>/workspace; used when there is no root.'),
  roots: key(z.array(root), 'Further folders.'),
  protect: key(
    z.array(text),
    'Files and folders that tools never change; this config, its policy file and its plugins are always among them.',
  ),
  network: key(z.array(text), 'Hosts that tools reach: api.github.com, *.example.org.', []),
  privateRanges: key(ranges, 'Private address ranges you open, as CIDR: 10.1.0.0/16.', []),
  blockedRanges: key(ranges, 'Address ranges that stay closed beside those that always are.', []),
  required: key(
    z.boolean(),
    'false lets your rules allow commands also where this machine cannot fence them in; there, all are asked otherwise.',
    true,
  ),
  commands: key(commandSandbox, 'What commands get beside the roots.'),
})

const secret = z.strictObject({
  env: text.describe('The environment variable that holds it.'),
  hosts: z.array(text).min(1).describe('Where it may be sent: api.github.com, *.example.org.'),
})

const search = z.strictObject({
  provider: z.enum(['tavily', 'brave', 'searxng']).describe('Who searches.'),
  url: key(text, "Where the service answers. Default: the provider's public address."),
  secret: key(text, "Name of the secret with its key. Default: the provider's own name."),
})

const web = z.strictObject({ search: key(search, 'How core/web.search searches.') })

const approvals = z.strictObject({
  timeout: key(duration, 'How long a question waits for its answer.', '5m'),
  inbox: key(
    z.boolean(),
    'Let questions wait in the store below data, where tool-hub approvals answers them from another process.',
    false,
  ),
  elicitation: key(
    z.boolean(),
    'Whether MCP clients that can show a form are asked. Default: true, except with inbox or unauthenticated HTTP.',
  ),
})

const runs = z.strictObject({
  folder: key(text, 'Folder of the run records.', './runs'),
  keep: key(duration, 'Runs that nothing was recorded in for so long are removed, on record: 90d. Default: none are.'),
  size: key(size, 'The oldest runs are removed, on record, until all take at most this: 20GB. Default: no bound.'),
})

const redact = z.strictObject({
  keys: key(z.array(text), 'Further key names whose values are secrets.'),
  env: key(z.array(text), 'Environment variables whose values are secrets.'),
})

const pluginOptions = z.record(z.string(), z.unknown())

const plugin = z.union([
  text,
  z.tuple([text, pluginOptions]),
  z.strictObject({
    use: text.describe('A path or a package.'),
    options: key(pluginOptions, 'What its function gets.'),
    isolate: key(
      fenceSchema,
      'Runs it in a fenced process of its own; docs/reference/plugins.md says what that means.',
      false,
    ),
    required: key(z.boolean(), 'false continues without it when it does not load; then its hooks guard nothing.', true),
  }),
])

/** Everything `tool-hub.yaml` may say; nothing is needed. */
export const configSchema = z.strictObject({
  $schema: key(z.string(), 'Where editors find this schema.'),
  version: key(z.literal(1), 'The version of this format.', 1),
  tools: key(
    z.union([visibilitySchema, policyToolsSchema]),
    'Which tools an agent sees (profile, allow, deny); or the tools of a policy.yaml (default, an entry a tool).',
  ),
  policy: key(
    z.union([z.array(ruleSchema), text]),
    'What tools may do: a list of rules, or the path of a policy.yaml.',
  ),
  sandbox: key(sandbox, 'Where tools may go.'),
  core: key(
    coreSchema,
    'The core tools under the names of CoreToolsConfig; sandbox and limits win where both say something.',
  ),
  secrets: key(
    z.record(z.string().regex(/^[a-zA-Z][\w.-]{0,63}$/), secret),
    'Secrets that tools use by name in a header and never see; docs/reference/web.md shows how.',
  ),
  web: key(web, 'The web tools.'),
  memory: key(memorySchema, 'What agents remember; docs/reference/memory.md.'),
  limits: key(limitsSchema, 'Bounds on calls. Times and sizes carry units: 60s, 5m, 30KB (30,000), 64KiB (65,536).'),
  approvals: key(approvals, 'How people are asked.'),
  runs: key(
    z.union([text, z.literal(false), runs]),
    'Folder of the run records; false keeps none; a mapping says also how long they are kept.',
    './runs',
  ),
  data: key(
    text,
    'Folder of what outlives runs: the store with grants, waiting approvals, keys and tokens; MCP pins and sign-ins.',
    './.tool-hub',
  ),
  durability: key(
    z.enum(['effects', 'full', 'behind']),
    'What is synced to disk before a call returns: calls with effects, every call, or nothing.',
    'effects',
  ),
  caller: key(text, 'Who calls when a call does not say; recorded.'),
  redact: key(redact, 'What must never be written or returned, beside the secrets that are always found.'),
  plugins: key(
    z.array(plugin).meta({ examples: [['./plugins/redact.mjs', ['@acme/tool-hub-jira', { project: 'OPS' }]]] }),
    'Tools and hooks to load: a path or a package, alone or with options.',
  ),
  mcpServers: key(
    mcpServersSchema.meta({
      examples: [{ github: { command: 'npx', args: ['-y', 'some-mcp-server'], env: { TOKEN: '${secret:github}' } } }],
    }),
    'MCP servers whose tools are here too, as mcp/NAME.TOOL; in the shape of Claude, Cursor and VS Code.',
  ),
  sessions: key(
    sessionsSchema,
    'Agents that agents may start, and what they see of each other; docs/reference/sessions.md.',
  ),
  messages: key(messagesSchema, 'How agents reach people; docs/reference/messages.md.'),
  skills: key(z.array(text), 'Folders of skills, each a folder with a SKILL.md.'),
  browser: key(browserSchema, 'The browser that agents use; docs/reference/browser.md.'),
  canvas: key(canvasSchema, 'How much agents may show to people; docs/reference/canvas.md.'),
  schedules: key(schedulesSchema, 'Calls that are made later; docs/reference/schedules.md.'),
  service: key(serviceSchema, 'How tool-hub serve is reached; docs/reference/service.md.'),
})

/** A config as it was written, checked. */
export type Config = z.output<typeof configSchema>

/** The config schema with `tools` narrowed to one of its two forms, so that a mistake is explained in the right one. */
export const configSchemas = {
  visibility: configSchema.extend({ tools: key(visibilitySchema, 'Which tools an agent sees.') }),
  policy: configSchema.extend({ tools: key(policyToolsSchema, 'The tools of a policy.yaml.') }),
} as const
