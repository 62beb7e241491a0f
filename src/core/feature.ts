import type { Duplex } from 'node:stream'
import type { CallOptions } from './call-options.ts'
import type { FEATURES } from './features.generated.ts'
import type { Principal } from './principal.ts'
import type { Artifact, ToolResult } from './result.ts'
import type { SourceHost } from './source.ts'
import type { Awaitable, Store } from './store.ts'
import type { CallerKind, Capability } from './tool.ts'

/** A feature by name: `memory`, `sessions`, … */
export type FeatureName = (typeof FEATURES)[number]

/** What a call uses of each feature, as `ctx.<name>`. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureHandles {}

/** What the owner of a hub uses of each feature, as `hub.<name>`. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureServices {}

/** The options of each feature, in the options of a hub. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureOptions {}

/** What each feature keeps in the store. Every feature adds its own with `declare module`. */
// biome-ignore lint/suspicious/noEmptyInterface: features add to it
export interface FeatureStores {}

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
  readonly store: Store
  /** The road of a call, as somebody with these rights travels it. */
  as(rights: Rights): CallPort
  /** What a principal may now; undefined when it is gone, `known` itself where nobody keeps a list of them. */
  principalNow(known: Principal): Awaitable<Principal | undefined>
  /** Reads what a run keeps under a reference. */
  artifact(run: string, ref: string, options?: ReadArtifact): Promise<Uint8Array>
  /** Whether a run, whoever's it is, has read content from outside. */
  isTainted(run: string): boolean
  /** What a run has done, from its record; nothing where none is kept. */
  pastCalls(run: string, page: PastCallPage): Promise<readonly PastCall[]>
  /** What features keep in the folders of runs; `undefined` where no records are kept. */
  readonly archives: RunArchives | undefined
  /** Records, in the hub's own run, that its owner has changed something: `memory-forgotten`, with what it was. */
  recordChange(change: { readonly by: string; readonly change: FeatureChange; readonly subject: string }): Promise<void>
  /** Notifies everybody who shows this feature, in any process with this store, that something of it has changed. */
  emitChange(feature: FeatureName, subject: string): void
  /** A connection to a host that the owner named, for a protocol that is not HTTP; its address is judged first. */
  dial(wish: DialWish): Promise<Duplex>
  /** The services of the hub's features, for one that uses another. */
  readonly services: FeatureServices
  /** Opens a way to the network for a program of the ability's own; it is closed with the signal, and with the hub. */
  openProxy(
    network: ProgramNetwork,
    options: { readonly signal: AbortSignal; readonly maxBytes: number },
  ): Promise<ProgramProxy>
}

/** What a program may reach, asked connection by connection after the network guard has judged it. */
export interface ProgramNetwork {
  /** Throws a ToolError when the URL may not be reached. */
  readonly permits: (url: string) => void
  /** Told of every connection, made and refused: `connected to …`, `refused: …`, `failed: …`. */
  readonly onConnection: (url: string, outcome: string) => void
}

/** A proxy for a program, CONNECT and HTTP/1.1. */
export interface ProgramProxy {
  /** Its unix socket, which only the user of the hub can reach. */
  readonly socket: string
  close(): Promise<void>
}

/** Where to connect to. */
export interface DialWish {
  /** As the owner spelt it: a private address is reached only when it was. */
  readonly host: string
  readonly port: number
  readonly signal: AbortSignal
}

/** Which calls of a run: the first after a line of its record, or else the last before one. */
export interface PastCallPage {
  readonly after?: number
  readonly before?: number
  readonly limit: number
}

/** A call that has ended, as the record has it: without secrets, and with bounded texts. */
export interface PastCall {
  /** Line of its end in the record. */
  readonly seq: number
  readonly time: string
  readonly callId: string
  readonly tool: string
  readonly status: string
  readonly summary: string
  /** What it gave came from outside. */
  readonly isUntrusted: boolean
}

/** How much of an artifact may be read into memory. */
export interface ReadArtifact {
  readonly maxBytes?: number
}

/** Whose call it is and what it may: kept with what goes on after the call, which gets no more than that. */
export interface Rights {
  /** The hub's own owner without. */
  readonly principal?: Principal
  readonly caller: string
  readonly callerKind?: CallerKind
  /** The closed list of capabilities that it may use. */
  readonly grants?: readonly Capability[]
}

/** The road of a call for one who is not the caller of the call under way. */
export interface CallPort {
  call(
    tool: string,
    input: unknown,
    options?: Omit<CallOptions, 'caller' | 'callerKind' | 'grants'>,
  ): Promise<ToolResult>
  /** The visible tools in the form that model providers want. */
  listForLLM(options?: { readonly dialect?: string }): readonly unknown[]
  endRun(run: string): Promise<void>
}

/** One call as an ability sees it. */
export interface FeatureCall {
  readonly callId: string
  readonly run: string
  readonly tool: string
  /** The session that the call belongs to; its run unless the caller says. */
  readonly session: string
  readonly caller: string
  /** Who it is for certain, where somebody at the door has found that out. */
  readonly principal: string | undefined
  readonly rights: Rights
  /** The run has read content from outside. */
  readonly isTainted: boolean
  /** A person, or a rule that was remembered of one, has said yes to this call. */
  readonly isApproved: boolean
  signal(): AbortSignal
  /** Hears when the call is stopped or over. Returns how to end that. */
  onStop(listener: () => void): () => void
  /** Throws POLICY_DENIED when the target was not decided on before the call, and is not allowed now. */
  permits(capability: Capability, value: string): void
  /** The same as a question. A call's own reading does not count against it. */
  allows(
    capability: Capability,
    value: string,
  ): { readonly ok: true } | { readonly ok: false; readonly why: string; readonly effect: 'ask' | 'deny' }
  /** Comes before everything that changes something: says so on record, and waits until that is on disk. */
  beforeEffect(): Promise<void>
  /** What the call gives came from outside: its run and its result are labelled. */
  markUntrusted(): void
  /** Puts on record that something was connected to for this call, or was kept from it. */
  recordConnection(url: string, outcome: string): void
  notice(text: string): void
  artifact(
    content: string | Uint8Array,
    options?: { readonly name?: string; readonly mediaType?: string },
  ): Promise<Artifact>
  /** Reads an artifact of this call's own run; FILE_TOO_LARGE over `maxBytes`. */
  readArtifact(ref: string, options?: ReadArtifact): Promise<Uint8Array>
  /** Calls another tool down the same road, under this call's budget, rights and signal. */
  call(tool: string, input: unknown): Promise<ToolResult>
}

/** A change that the owner makes outside of calls, as records name it: the subject and what happened to it. */
export type FeatureChange = `${string}-${string}`

/** Files of JSON lines in the folders of runs, which only grow. */
export interface RunArchives {
  /** The ids of all runs that have a folder. */
  runs(): Promise<readonly string[]>
  /** Adds a value as a line; it is on disk when this resolves. */
  append(run: string, file: string, value: object): Promise<void>
  /** The values of all lines in order, none if there is no file. Lines that are not JSON, such as torn ones, are skipped. */
  read(run: string, file: string): Promise<readonly unknown[]>
  /** Takes a lock that all processes share, waiting for it up to 15 s. Throws CONFLICT with the hint after that. */
  lock(run: string, name: string, held: { readonly what: string; readonly hint: string }): Promise<{ release(): void }>
}
