import type { CallOptions } from '../call-options.ts'
import type { Clock } from '../clock.ts'
import type { CallerKind, Capability } from '../define.ts'
import type { Principal } from '../principal.ts'
import type { Artifact, ToolResult } from '../result.ts'
import type { SourceHost } from '../source.ts'
import type { Awaitable, Store } from '../store.ts'
import type { BrowserDesk } from './browser.ts'

/** What a call may use beside files, the network and commands; each has a capability of its own. */
export const ABILITIES = ['memory', 'sessions', 'messages', 'schedules', 'browser', 'canvas'] as const

/** One of the abilities, by the name of its handle in `ctx`. */
export type AbilityName = (typeof ABILITIES)[number]

/** The capability that grants the handle of an ability. */
export const CAPABILITY_OF_ABILITY = {
  memory: 'memory',
  sessions: 'session',
  messages: 'message',
  schedules: 'schedule',
  browser: 'browser',
  canvas: 'canvas',
} as const satisfies Readonly<Record<AbilityName, Capability>>

/** What an owner may change outside of any call, for the record. */
export type AbilityChange =
  | 'memory-promoted'
  | 'memory-rejected'
  | 'memory-forgotten'
  | 'memory-imported'
  | 'session-ended'
  | 'message-sent'
  | 'schedule-saved'
  | 'schedule-removed'
  | 'schedule-run'
  | 'canvas-hidden'

/** An ability of one hub: what calls use, what its owner uses. Made when it is first needed. */
export interface Ability<Handle = unknown, Desk = unknown> {
  /** What one call may use; it does nothing that the call was not allowed. */
  handle(call: AbilityCall): Handle
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
export interface AbilityHost
  extends Pick<SourceHost, 'startProgram' | 'webFetch' | 'secret' | 'hide' | 'redact' | 'warn' | 'data' | 'clock'> {
  readonly store: Store
  /** The store outlives this process. */
  readonly isStoreKept: boolean
  readonly clock: Clock
  /** Where the records of all runs are; `false` when none are kept. */
  readonly runsFolder: string | false
  /** The road of a call, as somebody with these rights travels it. */
  as(rights: Rights): CallDoor
  /** What a principal may now; undefined when it is gone, `known` itself where nobody keeps a list of them. */
  principalNow(known: Principal): Awaitable<Principal | undefined>
  /** Reads what a run keeps under a reference. */
  artifact(run: string, ref: string): Promise<Uint8Array>
  /** Puts on record, in the hub's own run, that its owner has changed something. */
  recordChange(change: { readonly by: string; readonly change: AbilityChange; readonly subject: string }): Promise<void>
  /** Tells whoever shows this ability, in any process with this store, that something of it is another one now. */
  tellChange(ability: AbilityName, subject: string): void
  /** The browser, for an ability that shows something in one. */
  browser(): Promise<BrowserDesk>
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
export interface CallDoor {
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
export interface AbilityCall {
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
  signal(): AbortSignal
  /** Hears when the call is stopped or over. Returns how to end that. */
  onStop(listener: () => void): () => void
  /** Throws POLICY_DENIED when the target was not decided on before the call, and is not allowed now. */
  permits(capability: Capability, value: string): void
  /** The same as a question. A call's own reading does not count against it. */
  allows(capability: Capability, value: string): { readonly ok: true } | { readonly ok: false; readonly why: string }
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
  /** Reads an artifact of this call's own run. */
  readArtifact(ref: string): Promise<Uint8Array>
  /** Calls another tool down the same road, under this call's budget, rights and signal. */
  call(tool: string, input: unknown): Promise<ToolResult>
}
