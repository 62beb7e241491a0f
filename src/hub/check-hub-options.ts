import { ToolError } from '../errors.ts'
import { didYouMean } from '../names.ts'
import type { CommandLimits, CommandSandbox, HubOptions, Limits, Sandbox, Visibility, WebOptions } from '../options.ts'

/** Every key, so that the compiler says when one is missing here. */
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
  requests: true,
  sandbox: true,
  limits: true,
  core: true,
  secrets: true,
  web: true,
  approve: true,
  approvals: true,
  onQuestion: true,
  runs: true,
  data: true,
  durability: true,
  run: true,
  caller: true,
  redact: true,
  clock: true,
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
  run: true,
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
const APPROVALS: Keys<NonNullable<HubOptions['approvals']>> = { timeoutMs: true, inbox: true }
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
  outputBytes: true,
}

const SECTIONS = new Map<keyof HubOptions, object>([
  ['visibility', VISIBILITY],
  ['sandbox', SANDBOX],
  ['limits', LIMITS],
  ['approvals', APPROVALS],
  ['redact', REDACT],
  ['web', WEB],
])

/** Refuses options that nobody reads: in plain JavaScript a mistyped `polcy` would loosen everything in silence. */
export function checkHubOptions(options: HubOptions): void {
  checkKeys(options, OPTIONS, 'createToolHub')
  for (const [section, keys] of SECTIONS) checkKeys(options[section] as object | undefined, keys, section)
  checkKeys(options.sandbox?.commands, COMMAND_SANDBOX, 'sandbox.commands')
  checkKeys(options.limits?.commands, COMMAND_LIMITS, 'limits.commands')
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
  const hint = 'docs/api.md lists the options; the keys of tool-hub.yaml are read by loadConfig.'
  return new ToolError('CONFIG_INVALID', message, { hint: nearest || hint })
}
