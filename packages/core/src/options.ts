import type { Clock, Question } from './context.ts'
import type { ApprovalReply, ApprovalRequest } from './events.ts'
import type { FeatureOptions } from './feature-registry.ts'
import type { Awaitable } from './lib/index.ts'
import type { Limits } from './limits.ts'
import type { McpServer } from './mcp-server.ts'
import type { Hooks, Plugin } from './plugin.ts'
import type { Principal, Rule, SkillRequest, SourcedRule, Visibility } from './principal.ts'
import type { Sandbox } from './sandbox-options.ts'
import type { ToolSource } from './source.ts'
import type { Store } from './store.ts'
import type { AnyTool } from './tool.ts'

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
