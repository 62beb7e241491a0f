/** Where a config finds the files of the package. */
export interface TemplatePlaces {
  /** Path or URL of the JSON schema, for editors; `undefined` leaves the line out. */
  readonly schema: string | undefined
  /** What to read about every key. */
  readonly reference: string
}

const IN_NODE_MODULES: TemplatePlaces = {
  schema: './node_modules/tool-hub/config.schema.json',
  reference: 'node_modules/tool-hub/docs/reference/config.md',
}

/** A commented `tool-hub.yaml` with safe settings, for `tool-hub init`. */
export function configTemplate({ schema, reference }: TemplatePlaces = IN_NODE_MODULES): string {
  const schemaLine = schema === undefined ? '' : `# yaml-language-server: $schema=${schema}\n`
  return `${schemaLine}# What agents may see, do and use here. Every key: ${reference}.\n${SETTINGS}`
}

const SETTINGS = `version: 1

# Which tools an agent sees.
tools:
  profile: full # minimal | coding | messaging | full
  # allow: [group:util] # when there, nothing else is visible
  # also: [group:code] # visible in addition to those of profile and allow
  # deny: [exec] # wins over allow and also

# What tools may do: a verb, a subject, then optionally targets, conditions and a reason.
# A deny wins over everything, then the more specific rule. What no rule names, the shipped policy decides: files in the
# sandbox may be read, made and edited; deleting, and replacing files that the run has not read, are denied. All of it:
# tool-hub policy show.
policy:
  - { deny: "*", on: ["~/.ssh/**", "**/*.pem", "**/*.key", "**/.env*"], reason: "secrets stay on this machine" }
  # Commands run in a sandbox. Those that only read, such as ls and git status, run; any other asks.
  - { ask: exec }
  - { allow: exec, on: group:read-only }
  # - { allow: exec, on: ["npm test *", "git commit *"] }
  # - { allow: read:fs, on: ./docs/** }
  # - { allow: network, on: "https://api.github.com/**" }
  # - { ask: danger:destructive, on: ./src/** } # deleting and replacing unread files, after a question
  # - { deny: send, when: { tainted: true }, reason: "nothing leaves after foreign content was read" }

# Where tools may go.
sandbox:
  root: . # this folder; without it each run has a private, empty one
  # roots: [{ path: ../shared, mode: read }]
  # network: [api.github.com, "*.example.org"] # no host without it

# Keys that tools use by name and never see.
# secrets: { tavily: { env: TAVILY_API_KEY, hosts: [api.tavily.com] } }
# web: { search: { provider: tavily } } # needs api.tavily.com in sandbox.network

# Bounds on calls; times and sizes carry units.
limits:
  timeout: 60s
  output: 30KB # characters a model gets of one call; the whole is kept
  # calls: 5000 # a run: one session of an MCP client, a day of an agent that names no run
  # rate: 10/s
  # tools: { web_search: { calls: 20, rate: 30/min } }

# approvals: { timeout: 10m }
# redact: { keys: [x-internal-token], env: [GITHUB_TOKEN] }
# plugins: [./plugins/redact.mjs, ["@acme/tool-hub-jira", { project: OPS }]]

# Tools of MCP servers, as mcp/NAME.TOOL; each call asks until a rule says otherwise. tool-hub mcp add writes these lines.
# mcpServers: { docs: { url: "https://mcp.example.org/mcp" }, files: { command: npx, args: [-y, a-server], sandbox: true } }
# skills: [./skills] # folders with a folder for each skill

# The service of tool-hub serve: its page, HTTP, WebSocket and MCP.
# service: { port: 4040 }

# Records of what was done. In a git repository the commands put a .gitignore into both folders.
runs: ./runs
data: ./.tool-hub
`

/** A `tool-hub.yaml` for a coding agent in its folder, for `tool-hub mcp install`. */
export function codingTemplate(): string {
  return CODING_TEMPLATE
}

const CODING_TEMPLATE = `# What the coding agent may see and do in this folder; tool-hub mcp install wrote it. tool-hub policy show explains it.
version: 1

tools:
  profile: coding # files, commands, sessions and skills; tool-hub list shows them
  # also: [group:code, web_fetch] # scripts and pages, too

sandbox:
  root: . # tools and commands see this folder
  # network: [api.github.com] # hosts that commands may reach; none otherwise

policy:
  - { deny: "*", on: ["~/.ssh/**", "**/*.pem", "**/*.key", "**/.env*"], reason: "secrets stay on this machine" }
  # Commands run in a sandbox. Those that only read run, and so do those listed here; any other asks.
  - { ask: exec }
  - { allow: exec, on: group:read-only }
  - { allow: exec, on: ["mkdir *", "touch *", "git add *", "git commit *"] }
  - { allow: exec, on: ["npm test *", "npm run test *", "npm run lint *", "npm run build *", "cargo test *", "go test *", "pytest *"] }
  # An allowed test or build runs code that the agent wrote: it can delete files and .git, unasked and without undo.
  # Commit and push early.
  - { ask: danger:destructive } # file tools that delete, or overwrite files that the agent has not read

# The agent's program asks for approvals in a form; tool-hub approvals --watch answers them in another terminal.
approvals: { inbox: true, elicitation: true }

# Records of what was done, and the store; git ignores both folders.
runs: ./runs
data: ./.tool-hub
`
