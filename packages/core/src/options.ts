import type { SandboxLevel } from './commands.ts'
import type { Clock } from './context.ts'
import type { ApprovalReply, ApprovalRequest } from './events.ts'
import type { FeatureOptions } from './feature.ts'
import type { McpServer } from './mcp-server.ts'
import type { Principal, Rule, SkillRequest, SourcedRule } from './principal.ts'
import type { ToolSource } from './source.ts'
import type { Awaitable, Store } from './store.ts'
import type { AnyTool, Hooks, Plugin, Question } from './tool.ts'

/** Which tools an agent sees. */
export interface Visibility {
  /** A ready-made choice of tools. Default: `full`, which hides nothing. */
  readonly profile?: 'minimal' | 'coding' | 'messaging' | 'full'
  /** Not empty: nothing else is visible. Tool names, dialect names, `group:…`. */
  readonly allow?: readonly string[]
  /** Visible in addition to those of the profile and of `allow`. Tool names, dialect names, `group:…`. */
  readonly also?: readonly string[]
  /** Wins over allow and also. */
  readonly deny?: readonly string[]
}

/** Where tools may go. The model cannot loosen it. */
export interface Sandbox {
  /** The folder that `read:fs` and `write:fs` see. Default: the run's own `workspace/`. */
  readonly root?: string
  /** A folder below which each run has a workspace of its own, `<run-id>/workspace`; used when there is no `root`. */
  readonly workspaces?: string
  /** Further folders; what is read in an untrusted one counts as content from outside. */
  readonly roots?: ReadonlyArray<{
    /** The folder; relative paths start at the working directory of the process. */
    readonly path: string
    /** What tools may do there; `write` includes reading. */
    readonly mode: 'read' | 'write'
    /** What is read there counts as content from outside. Default: `false`. */
    readonly untrusted?: boolean
  }>
  /** Files and folders in them that tools never change, in addition to the built-in list. */
  readonly protect?: readonly string[]
  /** Hosts that `network` reaches: `api.github.com`, `*.example.org`. Default: none. */
  readonly network?: readonly string[]
  /** Private address ranges the owner opens, as CIDR. Default: none. */
  readonly privateRanges?: readonly string[]
  /** Address ranges that stay closed, in addition to the built-in list, as CIDR. */
  readonly blockedRanges?: readonly string[]
  /**
   * `false` lets your rules allow commands also where this machine cannot sandbox them. By default each of those
   * commands needs approval.
   */
  readonly required?: boolean
  /** What commands get in addition to the roots. Default: nothing. */
  readonly commands?: CommandSandbox
}

/** What commands get in addition to the roots, which they see as file tools do. */
export interface CommandSandbox {
  /** Further files and folders that they see. */
  readonly readable?: readonly string[]
  /** Further folders that they may change. */
  readonly writable?: readonly string[]
  /** Package caches of your home that they share. */
  readonly caches?: readonly CacheName[]
  /** Variables of the hub's own environment that they get; none that holds a secret, unless you mean it. */
  readonly env?: readonly string[]
  /** Whether they see files such as `.env` and `*.pem` in the roots. Default: `hidden`. */
  readonly secrets?: 'hidden' | 'visible'
  /** A weaker sandbox than this machine supports. */
  readonly level?: SandboxLevel
  /** How many sandboxes are prepared in advance, so that the next command starts without delay. Default: 2. */
  readonly prepared?: number
}

/** Caches that commands can be given by name. */
export const CACHE_NAMES = ['npm', 'go', 'cargo'] as const

/** One of the caches. */
export type CacheName = (typeof CACHE_NAMES)[number]

/** What a command may use where the owner sets no limit. */
export const DEFAULT_COMMAND_LIMITS = {
  cpuMs: 600_000,
  memoryBytes: 2_000_000_000,
  processes: 256,
  fileBytes: 1_000_000_000,
  openFiles: 1_024,
  diskBytes: 10_000_000_000,
  newFiles: 500_000,
  outputBytes: 1_000_000_000,
} as const

/** What one command may use. */
export interface CommandLimits {
  /** Processor time. Default: 10 minutes. */
  readonly cpuMs?: number
  /** Memory. Default: 2 GB. */
  readonly memoryBytes?: number
  /** Concurrent processes and threads. Default: 256. */
  readonly processes?: number
  /** The largest file that it may write. Default: 1 GB. */
  readonly fileBytes?: number
  /** Open files. Default: 1,024. */
  readonly openFiles?: number
  /** Disk space that it may add; then it is ended. Default: 10 GB. */
  readonly diskBytes?: number
  /** Files and folders that it may create; then it is ended. Default: 500,000. */
  readonly newFiles?: number
  /** All it may print; then it is ended. Default: 1 GB. */
  readonly outputBytes?: number
}

/** A secret that tools use by name, `${secret:NAME}` in a header, and never see. */
export interface Secret {
  /** The secret itself. It is removed from every record and result, and tools never see it. */
  readonly value: string
  /** Where it may be sent: `api.github.com`, `*.example.org`. */
  readonly hosts: readonly string[]
}

/** How the web tools work. */
export interface WebOptions {
  /** Who answers `core/web.search`; for a service of your own give `createWebSearch(…)` among the tools. */
  readonly search?: {
    /** The service that answers. Without `search`, `core/web.search` fails and its error says what to set. */
    readonly provider: 'tavily' | 'brave' | 'searxng'
    /** Where the service answers. Default: its public address. SearXNG has none. */
    readonly url?: string
    /** Name of the secret with its key. Default: the provider's own name. */
    readonly secret?: string
  }
}

/** What one run, session or tool may use in total. */
export interface BudgetLimits {
  /** Most calls. Default: no limit. */
  readonly calls?: number
  /** Most time of all calls together, in milliseconds. Default: no limit. */
  readonly wallMs?: number
  /** Most bytes returned in all. Default: no limit. */
  readonly bytes?: number
  /** Most cost units in all; a tool declares the cost of one call as `costUnits`. Default: no limit. */
  readonly cost?: number
}

/** A token bucket: `perSecond` on average, `burst` in a burst. */
export interface Rate {
  /** Calls per second on average; every whole 100 kB of arguments counts as one more call. */
  readonly perSecond: number
  /** Calls that may come together before the average applies. Default: `perSecond`, rounded up, at least 1. */
  readonly burst?: number
}

/** The limits that apply where neither the options nor the config set one. The config schema shows the same values. */
export const DEFAULT_LIMITS = {
  timeoutMs: 60_000,
  inputBytes: 10_000_000,
  inputDepth: 64,
  inputEntries: 50_000,
  readBytes: 5_242_880,
  httpBytes: 5_242_880,
  httpTimeoutMs: 15_000,
  downloadBytes: 104_857_600,
  undoBytes: 200_000_000,
  approvalMs: 300_000,
} as const

/** Bounds on calls; every number has a safe default. */
export interface Limits {
  /** Longest time of one call with all its attempts, for tools without a `timeoutMs` of their own. Default: 60 s. */
  readonly timeoutMs?: number
  /** Characters of text that a model gets of one call. */
  readonly outputChars?: number
  /** Most bytes of the arguments of one call. Default: 10 MB. */
  readonly inputBytes?: number
  /** Deepest nesting of arguments. Default: 64. */
  readonly inputDepth?: number
  /** Keys of objects and elements of arrays in the arguments of one call. Default: 50,000. */
  readonly inputEntries?: number
  /** What one run may use in all; then its calls end with `BUDGET_EXCEEDED`. Default: no limit. */
  readonly run?: BudgetLimits
  /**
   * Which budgets of `run` the config file writes directly below `limits`, so that messages name the key as it is
   * written.
   */
  readonly shortKeys?: ReadonlyArray<'calls' | 'time' | 'bytes' | 'cost'>
  /** What one session may use in all; a call without a session counts for the session of its run. Default: no limit. */
  readonly session?: BudgetLimits
  /**
   * What one tool may use in each run, how fast and how often at the same time, by its canonical name. Default: no
   * limits, except 8 concurrent calls of `core/exec.run`.
   */
  readonly tools?: Readonly<Record<string, BudgetLimits & { readonly rate?: Rate; readonly concurrency?: number }>>
  /** How fast tools may be called, all together; a call over it ends with `RATE_LIMITED`. Default: no limit. */
  readonly rate?: Rate
  /** Calls at the same time; further calls wait for their turn. Default: no limit. */
  readonly concurrency?: number
  /**
   * Maximum number of bytes read from a file in one operation. Default: 5 MiB; a call may then ask for up to 10 MiB.
   */
  readonly readBytes?: number
  /** Most bytes of one response. Default: 5 MiB; a call may then ask for up to 10 MiB. */
  readonly httpBytes?: number
  /** Time for one request, its redirects, retries and body. Default: 15 s. */
  readonly httpTimeoutMs?: number
  /** Most bytes of one download. Default: 100 MiB. */
  readonly downloadBytes?: number
  /** Bytes that a run keeps of what its changes replaced, for undo. Default: 200 MB. */
  readonly undoBytes?: number
  /** Bounds on each command. */
  readonly commands?: CommandLimits
}

/** Options of the core tools under their other names, accepted as they are. */
export interface CoreToolsConfig {
  /** The same as `sandbox.workspaces`: the folder below which each run has a workspace of its own. */
  readonly sandboxRoot?: string
  /** Maximum number of bytes of a read that names no `maxBytes`. Default: 5 MiB; a call may ask for up to 10 MiB. */
  readonly maxReadBytes?: number
  /** Most bytes of a response if the call names no `maxBytes`. Default: 5 MiB; a call may ask for up to 10 MiB. */
  readonly maxHttpBytes?: number
  /** The same as `limits.downloadBytes`. */
  readonly maxDownloadBytes?: number
  /** The same as `sandbox.network`. */
  readonly allowedHosts?: readonly string[]
  /**
   * Address ranges that stay closed. Replaces the default, the private ranges 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16
   * and fc00::/7; with `sandbox.privateRanges`, only those of them that it names are open. Loopback, link-local and
   * metadata addresses stay closed in any case.
   */
  readonly blockedCidrs?: readonly string[]
  /** The same as `limits.httpTimeoutMs`. */
  readonly defaultTimeoutMs?: number
  /** The `User-Agent` of requests: printable ASCII characters. Default: `tool-hub/<version>`. */
  readonly httpUserAgent?: string
  /** Accepted and ignored: text over the output limit always becomes an artifact. */
  readonly enableAutoWriteLargeResponses?: boolean
}

/** A bucket of an S3-compatible service. */
export interface BucketOptions {
  /** Its address, with a prefix if you like: `https://s3.eu-central-1.amazonaws.com/my-bucket/tool-hub`. */
  readonly url: string
  /** The region that requests are signed for. */
  readonly region: string
  /** The id of the key that requests are signed with. */
  readonly accessKeyId: string
  /** The secret of the key. */
  readonly secretAccessKey: string
  /** The token of a temporary key. Default: none. */
  readonly sessionToken?: string
}

/** Which calls can have what they returned on record. */
export const RECORDED_OUTPUTS = ['none', 'failed', 'all'] as const

/** Which calls have what they returned on record, redacted and shortened to 8 KB: none, those that failed, or all. */
export type RecordedOutputs = (typeof RECORDED_OUTPUTS)[number]

/** What is recorded of outputs, and how records are shared with other machines. */
export interface RecordsOptions {
  /** Which calls have the beginning and the end of their output on record, 4 KB each. Default: `failed`. */
  readonly outputs?: RecordedOutputs
  /** Where sealed parts of records and large artifacts are kept. Default: in the store. */
  readonly bucket?: BucketOptions
}

/** How much must be on disk before a call returns; see docs/reference/records.md. */
export type Durability = 'effects' | 'full' | 'behind' | 'shared'

/** A text, or the values of a form by name. */
export type QuestionReply = string | Readonly<Record<string, unknown>>

/** A PostgreSQL database that processes on several machines share. */
export interface DatabaseOptions {
  /** `postgres://USER:PASSWORD@HOST:5432/DATABASE`. */
  readonly url: string
  /** Schema of its tables. Default: `tool_hub`. */
  readonly schema?: string
  /** Maximum number of connections of this process. Default: 10. */
  readonly pool?: number
  /** How connections are encrypted; `false` does not. Default: encrypted and verified for servers on other machines. */
  readonly tls?:
    | false
    | {
        /** Authorities that may have signed the server's certificate, as PEM. Default: those of Node. */
        readonly ca?: string
        /** The certificate that this process shows, as PEM. */
        readonly cert?: string
        /** Its key, as PEM. */
        readonly key?: string
        /** Name in the server's certificate. Default: the host of the URL. */
        readonly servername?: string
      }
  /** Time limit of one statement. Default: 10 s. */
  readonly statementTimeoutMs?: number
}

/** All options of a hub; none is required. */
export interface HubOptions<T extends readonly AnyTool[] = readonly AnyTool[]> extends FeatureOptions {
  /** Your tools; they win over plugins' and built-in ones of the same name. */
  readonly tools?: T
  /** Tools and hooks that belong together; no call runs before all plugins are set up. */
  readonly plugins?: readonly Plugin[]
  /** Where tools come from that come and go: `fromFolder(…)`, your own. */
  readonly sources?: readonly ToolSource[]
  /** MCP servers by name; their tools are `mcp/<name>.<tool>`. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** Folders of skills, each a folder with a SKILL.md. */
  readonly skills?: readonly string[]
  /** Your code at four places of every call: `before`, `decide`, `after`, `settled`. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** Which tools an agent sees; a call of a hidden tool ends with `TOOL_DISABLED`. Default: all. */
  readonly visibility?: Visibility
  /**
   * What tools may do: `{ allow: 'write:fs', on: 'notes/**' }`. A deny wins, then the most specific rule; calls that no
   * rule matches follow the shipped policy.
   */
  readonly policy?: readonly (Rule | SourcedRule)[]
  /**
   * Rules that you want to try: they decide every call a second time, and `hub.shadowReport()` says where they differ from
   * `policy`. What they decide has no effect. Default: none.
   */
  readonly shadowPolicy?: readonly (Rule | SourcedRule)[]
  /**
   * Refuses doubtful rules, such as one that names no tool: `hub.ready()` rejects and every call fails with CONFIG_INVALID.
   * Default: false; what `hub.check()` finds is emitted as warnings after the first call.
   */
  readonly strict?: boolean
  /** What skills ask for; shown to the approver, never granted. */
  readonly requests?: readonly SkillRequest[]
  /**
   * Which files and hosts tools and commands can reach, whatever the policy allows. Default: the run's own
   * `workspace/`, no network.
   */
  readonly sandbox?: Sandbox
  /** Bounds on time, sizes, budgets, rates and concurrency of calls; docs/reference/limits.md. */
  readonly limits?: Limits
  /** The configuration of the core tools in its original form; `sandbox` and `limits` win over it. */
  readonly core?: CoreToolsConfig
  /** Secrets by name; a tool names one, the network guard fills it in. */
  readonly secrets?: Readonly<Record<string, Secret>>
  /** Which service answers `core/web.search`. Default: none; the tool then fails and says what to set. */
  readonly web?: WebOptions
  /**
   * Resolves a principal's current permissions for work that outlives its request (schedules, sessions). Returns
   * `undefined` if the principal no longer exists. Default: identity.
   */
  readonly principals?: (known: Principal) => Awaitable<Principal | undefined>
  /**
   * Answers approval requests. Without it, and with nobody watching `hub.approvals`, a call that needs approval fails
   * immediately.
   */
  readonly approve?: (request: ApprovalRequest) => ApprovalReply | Promise<ApprovalReply>
  /** How approval requests wait for a person. */
  readonly approvals?: {
    /** How long an approval request waits for its answer. Default: 5 minutes. */
    readonly timeoutMs?: number
    /** Keeps approval requests in the store for an answer from another process, also if nobody watches here. */
    readonly inbox?: boolean
    /** Whether MCP clients are shown an elicitation form. Default: true, except with `inbox`. */
    readonly elicitation?: boolean
  }
  /** Answers what a tool asks the person behind the agent (`ctx.ask`, `core/ask.user`). */
  readonly onQuestion?: (
    question: Question,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => QuestionReply | Promise<QuestionReply>
  /** Another name of `onQuestion`, which wins where both are given. */
  readonly onClarificationRequest?: HubOptions['onQuestion']
  /** Folder of the run records; `false` keeps none. Default: `./runs`. */
  readonly runs?: string | false
  /** Folder of the data that outlives runs (pins, sign-ins, the store of the command line). Default: `./.tool-hub`. */
  readonly data?: string
  /**
   * What outlives the process: grants, pending approvals, idempotency keys, budgets. Default: in memory; see
   * `openStore(…)`.
   */
  readonly store?: Store
  /**
   * The database of the store, as `store:` in a config names it. A hub does not open it by itself: pass
   * `store: openStoreOf(options)`. Default: none.
   */
  readonly database?: DatabaseOptions
  /**
   * What is synced to disk before a call returns: calls with side effects (`effects`), every call (`full`), or nothing
   * (`behind`). `shared` is `effects`, and the record is in the store as well: it needs a store that many machines share,
   * and is the default there. Default: `effects`.
   */
  readonly durability?: Durability
  /** How records are shared, with a store that many machines share. */
  readonly records?: RecordsOptions
  /** The run of calls that name none. Default: a new id. */
  readonly run?: string
  /** The caller of calls that name none; recorded. */
  readonly caller?: string
  /** Secret values and further key names that must never be written or returned. */
  readonly redact?: { readonly values?: readonly string[]; readonly keys?: readonly string[] }
  /** The source of time, for tests: `fakeClock()` of `tool-hub/testing`. Default: the machine's clock. */
  readonly clock?: Clock
}
