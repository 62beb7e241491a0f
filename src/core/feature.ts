import type { Duplex } from 'node:stream'
import type { BrowserService } from './browser.ts'
import type { CallOptions } from './call-options.ts'
import type { CallerKind, Capability } from './define.ts'
import type { MemoryCandidate } from './memory.ts'
import type { Principal } from './principal.ts'
import type { Artifact, ToolResult } from './result.ts'
import type { SourceHost } from './source.ts'
import type { Awaitable, Store } from './store.ts'

/** What a call may use beside files, the network and commands; each has a capability of its own. */
export const FEATURES = ['memory', 'sessions', 'messages', 'schedules', 'browser', 'canvas'] as const

/** One of the abilities, by the name of its handle in `ctx`. */
export type FeatureName = (typeof FEATURES)[number]

/** The capability that grants the handle of an ability. */
export const CAPABILITY_OF_FEATURE = {
  memory: 'memory',
  sessions: 'session',
  messages: 'message',
  schedules: 'schedule',
  browser: 'browser',
  canvas: 'canvas',
} as const satisfies Readonly<Record<FeatureName, Capability>>

/** What an owner may change outside of any call, for the record. */
export type FeatureChange =
  | 'memory-promoted'
  | 'memory-rejected'
  | 'memory-forgotten'
  | 'memory-imported'
  | 'session-begun'
  | 'session-ended'
  | 'message-sent'
  | 'schedule-saved'
  | 'schedule-removed'
  | 'schedule-run'
  | 'canvas-hidden'

/** An ability of one hub: what calls use, what its owner uses. Made when it is first needed. */
export interface Feature<Handle = unknown, Desk = unknown> {
  /** What one call may use; it does nothing that the call was not allowed. */
  handle(call: FeatureCall): Handle
  /** What the owner of the hub uses: asks nobody, and is not judged. */
  readonly desk: Desk
  /** A run is over: what was kept for it alone goes. */
  endRun?(run: string): Awaitable<void>
  /** Begins nothing new, and ends what waits for others: the hub is about to close. */
  calm?(): void
  /** Gives back everything, also what is under way. */
  close(): Promise<void>
}

/** What a hub does for an ability. */
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
  /** Notes that wait for review in the archives of the runs; undefined where no records are kept. */
  readonly candidates: CandidateArchive | undefined
  /** Puts on record, in the hub's own run, that its owner has changed something. */
  recordChange(change: { readonly by: string; readonly change: FeatureChange; readonly subject: string }): Promise<void>
  /** Tells whoever shows this ability, in any process with this store, that something of it is another one now. */
  emitChange(ability: FeatureName, subject: string): void
  /** A connection to a host that the owner named, for a protocol that is not HTTP; its address is judged first. */
  dial(wish: DialWish): Promise<Duplex>
  /** The browser, for an ability that shows something in one. */
  browser(): Promise<BrowserService>
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

/** A note on its way into the archive of a run. */
export type NewCandidate = Omit<MemoryCandidate, 'state' | 'review'>

/** What a person decided on a candidate. */
export interface CandidateReview {
  readonly id: string
  readonly decision: 'promoted' | 'rejected'
  readonly by: string
  readonly at: number
  readonly reason?: string
  readonly note?: string
}

/** The notes that wait in the archives of runs. */
export interface CandidateArchive {
  /** On the disk itself when it resolves; BUDGET_EXCEEDED when the run has so many. */
  add(candidate: NewCandidate, options: { readonly maxInRun: number }): Promise<void>
  find(id: string): Promise<MemoryCandidate | undefined>
  /** Newest first. */
  list(filter: {
    readonly run?: string
    readonly state: MemoryCandidate['state'] | 'all'
    readonly limit: number
  }): Promise<readonly MemoryCandidate[]>
  /**
   * Decides on a candidate that waits, one at a time over all processes: `work` makes what follows from it, and its
   * review is kept when that is done. Gives back the candidate as it was when it had been decided before.
   */
  decide(
    id: string,
    work: (candidate: MemoryCandidate) => Promise<CandidateReview>,
  ): Promise<
    | { readonly won: true; readonly review: CandidateReview }
    | { readonly won: false; readonly candidate: MemoryCandidate }
  >
}
