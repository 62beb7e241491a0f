import type { Duplex } from 'node:stream'
import type { Artifact, ToolResult } from './call.ts'
import type { CallOptions } from './call-options.ts'
import type { CallerKind, Capability } from './capability.ts'
import type { ScriptPlace } from './events.ts'
import type { FeatureName, FeatureServices } from './feature-registry.ts'
import type { Awaitable } from './lib/index.ts'
import type { Principal } from './principal.ts'
import type { SourceHost } from './source.ts'
import type { Store } from './store.ts'
import type { ToolCard } from './tool-card.ts'

/** Features add their own types to those of the registry, with `declare module '@tool-hub/core/feature'`. */
export * from './feature-registry.ts'

/** A feature of one hub. */
export interface Feature<Handle = unknown, Service = unknown> {
  /** The handle for one call; it does nothing that the call was not allowed. */
  handle(call: FeatureCall): Handle
  /** What the owner of the hub uses; it is not subject to policy. */
  readonly service: Service
  /** Removes what was kept for a run that has ended. */
  endRun?(run: string): Awaitable<void>
  /** Starts nothing new, and stops waiting for others: the hub is about to close. */
  calm?(): void
  /** Ends what is under way, and releases everything. */
  close(): Promise<void>
}

/** What a hub provides to its features. */
export interface FeatureHost
  extends Pick<SourceHost, 'startProgram' | 'webFetch' | 'secret' | 'hide' | 'redact' | 'warn' | 'data' | 'clock'> {
  /** The store of the hub. */
  readonly store: Store
  /** Id of this process among those that share the store; absent if no other machine uses the store. */
  readonly process?: string
  /** The tools that the owner's agents see. The same array until a tool changes. */
  tools(): readonly ToolCard[]
  /** The same tools under each name of their dialects, with the arguments of those. */
  dialectTools(): readonly ToolCard[]
  /** Calls of somebody with these rights; they go through the whole pipeline. */
  as(rights: Rights): CallPort
  /** The current rights of a principal. Returns `undefined` if it no longer exists, and `known` where nobody keeps a list. */
  principalNow(known: Principal): Awaitable<Principal | undefined>
  /** Reads what a run keeps under a reference. */
  artifact(run: string, ref: string, options?: ReadArtifact): Promise<Uint8Array>
  /** Whether a run has read content from outside, no matter whose run it is and which process has it. */
  isTainted(run: string): Awaitable<boolean>
  /** Calls of a run, from its record; none where no record is kept. */
  pastCalls(run: string, page: PastCallPage): Promise<readonly PastCall[]>
  /** What features keep in the folders of runs; `undefined` where no records are kept. */
  readonly archives: RunArchives | undefined
  /** Records, in the hub's own run, that its owner has changed something: `memory-forgotten`, with what it was. */
  recordChange(change: { readonly by: string; readonly change: FeatureChange; readonly subject: string }): Promise<void>
  /** Notifies everybody who shows this feature, in any process with this store, that something of it has changed. */
  emitChange(feature: FeatureName, subject: string): void
  /** Reads the tools that a feature keeps in the store again, after a change of them. */
  reloadTools(feature: FeatureName): Promise<void>
  /** A connection to a host that the owner named, for a protocol that is not HTTP; its address is judged first. */
  dial(wish: DialWish): Promise<Duplex>
  /** The services of the hub's features, for one that uses another. */
  readonly services: FeatureServices
  /** Opens a network proxy for a program of the feature; it closes with the signal and with the hub. */
  openProxy(
    network: ProgramNetwork,
    options: { readonly signal: AbortSignal; readonly maxBytes: number },
  ): Promise<ProgramProxy>
}

/** What a program may reach; asked for each connection after the network guard has allowed it. */
export interface ProgramNetwork {
  /** Throws a ToolError when the URL may not be reached. */
  readonly permits: (url: string) => void
  /** Called for every connection, made or refused: `connected to …`, `refused: …`, `failed: …`. */
  readonly onConnection: (url: string, outcome: string) => void
}

/** A proxy for a program, CONNECT and HTTP/1.1. */
export interface ProgramProxy {
  /** Its unix socket, which only the user of the hub can reach. */
  readonly socket: string
  /** Closes the proxy and its connections. */
  close(): Promise<void>
}

/** Where to connect to. */
export interface DialWish {
  /** As the owner spelt it: a private address is reached only when it was. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** Ends the attempt and the connection. */
  readonly signal: AbortSignal
}

/** Which calls of a run: the first after a line of its record, or else the last before one. */
export interface PastCallPage {
  /** Only calls that ended after this line. */
  readonly after?: number
  /** Only calls that ended before this line. */
  readonly before?: number
  /** Maximum number of calls. */
  readonly limit: number
}

/** A call that has ended, as the record has it: without secrets, and with bounded texts. */
export interface PastCall {
  /** Line of its end in the record. */
  readonly seq: number
  /** When it ended, ISO 8601. */
  readonly time: string
  /** Id of the call. */
  readonly callId: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** `success`, or the status of its failure. */
  readonly status: string
  /** One line about the result. */
  readonly summary: string
  /** Its result holds content from outside. */
  readonly isUntrusted: boolean
}

/** How much of an artifact may be read into memory. */
export interface ReadArtifact {
  /** Maximum number of bytes. Default: no limit. */
  readonly maxBytes?: number
}

/** Who makes a call, and with which permissions. Work that continues after the call keeps them, and gets no others. */
export interface Rights {
  /** Absent for the owner of the hub. */
  readonly principal?: Principal
  /** Who calls, as the caller says. */
  readonly caller: string
  /** Whether an agent calls directly, or a script that the model wrote. Default: `direct`. */
  readonly callerKind?: CallerKind
  /** The closed list of capabilities that it may use. */
  readonly grants?: readonly Capability[]
}

/** Makes calls for somebody who is not the caller of the current call. */
export interface CallPort {
  /** Calls a tool by name. */
  call(
    tool: string,
    input: unknown,
    options?: Omit<CallOptions, 'caller' | 'callerKind' | 'grants'>,
  ): Promise<ToolResult>
  /** The visible tools in the form that model providers want. */
  listForLLM(options?: { readonly dialect?: string }): readonly unknown[]
  /** Ends a run of these calls. */
  endRun(run: string): Promise<void>
}

/** One call as a feature sees it. */
export interface FeatureCall {
  /** Id of the call. */
  readonly callId: string
  /** Id of its run. */
  readonly run: string
  /** Canonical name of the tool. */
  readonly tool: string
  /** The session that the call belongs to. Default: its run. */
  readonly session: string
  /** Who calls, as the caller says. */
  readonly caller: string
  /** The authenticated principal; `undefined` if nobody was authenticated. */
  readonly principal: string | undefined
  /** The rights of the call, for work that continues after it. */
  readonly rights: Rights
  /** The run has read content from outside. */
  readonly isTainted: boolean
  /** A person approved this call, or an answer that was remembered did. */
  readonly isApproved: boolean
  /** The tools that the caller sees. The same array until a tool changes. */
  tools(): readonly ToolCard[]
  /** The same tools under each name of their dialects, with the arguments of those. */
  dialectTools(): readonly ToolCard[]
  /** Aborts when the call is stopped. */
  signal(): AbortSignal
  /** Calls the listener when the call is stopped or has ended. Returns a function that removes it. */
  onStop(listener: () => void): () => void
  /** Throws POLICY_DENIED when the target was not decided on before the call, and is not allowed now. */
  permits(capability: Capability, value: string): void
  /** The same check without throwing. What the call itself has read does not count against it. */
  allows(
    capability: Capability,
    value: string,
  ): { readonly ok: true } | { readonly ok: false; readonly why: string; readonly effect: 'ask' | 'deny' }
  /** To be awaited before every side effect: records that the call has one, and waits until that is on disk. */
  beforeEffect(): Promise<void>
  /**
   * Labels the run and the result: the call returns content from outside. `source` names where it comes from, for people.
   * Default: the hosts and systems that the call names, or its tool.
   */
  markUntrusted(source?: string): void
  /** Adds what a person wrote to this run; never what an agent or a tool wrote. */
  addUserText(texts: readonly string[]): Promise<void>
  /** Records that a connection was made or refused for this call. */
  recordConnection(url: string, outcome: string): void
  /** Adds a notice for the caller; it appears in `meta.notices`. */
  notice(text: string): void
  /** The call will have started something that waits or continues: a success has the status `pending`, not `ok`. */
  markPending(): void
  /** Keeps something large out of the result; returns its reference. */
  artifact(
    content: string | Uint8Array,
    options?: { readonly name?: string; readonly mediaType?: string },
  ): Promise<Artifact>
  /** Reads an artifact of this call's own run; FILE_TOO_LARGE over `maxBytes`. */
  readArtifact(ref: string, options?: ReadArtifact): Promise<Uint8Array>
  /** Calls another tool through the same pipeline, under this call's budget, rights and signal. */
  call(tool: string, input: unknown, options?: NestedCallOptions): Promise<ToolResult>
}

/** What a feature says about a call that it makes for another one. */
export interface NestedCallOptions extends Pick<CallOptions, 'repeatKey' | 'signal' | 'onEvent'> {
  /** Where in the model's script the call is made; its caller is then that script. */
  readonly script?: ScriptPlace
  /** Stores the source of the script before people are asked about the call; returns the reference of the artifact. */
  readonly keepSource?: () => Promise<string>
}

/** A change that the owner makes outside of calls, as records name it: the subject and what happened to it. */
export type FeatureChange = `${string}-${string}`

/** Files of JSON lines in the folders of runs, which only grow. */
export interface RunArchives {
  /** The ids of all runs that have a folder. */
  runs(): Promise<readonly string[]>
  /** Adds a value as a line; it is on disk when this resolves. */
  append(run: string, file: string, value: object): Promise<void>
  /** The values of all lines in order, none if the file does not exist. Lines that are not JSON, such as torn ones, are skipped. */
  read(run: string, file: string): Promise<readonly unknown[]>
  /** Takes a lock that all processes share, waiting for it up to 15 s. Throws CONFLICT with the hint after that. */
  lock(run: string, name: string, held: { readonly what: string; readonly hint: string }): Promise<{ release(): void }>
}
