import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Awaitable, CallOptions, ToolResult } from '@tool-hub/core'
import type { Scope, ServiceEvent } from '@tool-hub/core/protocol'
import type { PrincipalHub } from '@tool-hub/runtime/hub'
import type { WebSocket } from 'ws'

// What a service asks when other processes share its store, and what it gives them to answer for each other. A service that
// is alone with its store has a router and a group of its own.

/** An authenticated request that another process may answer. */
export interface ForwardableIdentity {
  readonly caller: { readonly name: string; readonly scopes: ReadonlySet<Scope> }
  /** What the request was authenticated by, so that another process finds the same caller. */
  credential(): Awaitable<unknown>
}

/** A call that a transport has received. */
export interface RoutedCall<Identity = ForwardableIdentity> {
  readonly caller: { readonly hub: Pick<PrincipalHub, 'callDynamic'> }
  readonly tool: string
  readonly input: unknown
  readonly options: CallOptions
  /** How its caller was authenticated. Without it, the call is made by this process. */
  readonly identity?: Identity
  /** The HTTP request that it came with, which `OtherProcesses.answer` has left to this process. */
  readonly request?: IncomingMessage
}

/**
 * Decides where calls are made. HTTP and WebSocket make the calls of their callers with it. A request of MCP is routed as
 * a whole, by `others.answer`: its calls need the session.
 */
export interface CallRouter<Identity = ForwardableIdentity> {
  /** Makes a call where its run is, and follows the run while it moves. */
  call(call: RoutedCall<Identity>): Promise<ToolResult>
  /** The other processes that callers may have something at; absent if this one answers everything. */
  readonly others?: OtherProcesses<Identity>
}

/** What a request is about: a run, or something else whose id says which process has it. */
export type Concern = { readonly run: string } | { readonly id: string }

/** The processes that answer requests for each other. */
export interface OtherProcesses<Identity = ForwardableIdentity> {
  /** Marks an id as one of this process, so that every process knows where to find the object that it names. */
  ownId(id: string): string
  /** Who a request comes from that another process has forwarded. It is answered here; `undefined` for any other. */
  forwardedBy(request: IncomingMessage): Identity | undefined
  /**
   * Has a request answered by the process that has what it concerns, and passes the answer on as it arrives; returns
   * `false` if it must be answered here. Throws a refusal.
   */
  answer(concern: Concern, exchange: RoutedExchange<Identity>): Promise<boolean>
  /**
   * Connects a WebSocket to the process that has its session; returns `false` if that is this one. Throws if the process
   * cannot be reached.
   */
  relay(session: string, socket: RelayedSocket<Identity>): Promise<boolean>
}

/** A request of HTTP, and the response that the answer of another process is written to. */
export interface RoutedExchange<Identity = ForwardableIdentity> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly identity: Identity
  /** Reads the body, which can be read again. */
  readonly bytes: () => Promise<Uint8Array>
}

/** A WebSocket of a client whose session is at another process. */
export interface RelayedSocket<Identity = ForwardableIdentity> {
  /** Paused, so that nothing arrives before it is connected. */
  readonly client: WebSocket
  readonly identity: Identity
  /** The first message of the client. */
  readonly hello: string
  /** Messages that arrive while the connection is made. */
  readonly early: readonly string[]
  readonly maxBytes: number
}

/** The processes that share the store of a service: only this one, unless the owner lets others use it, too. */
export interface ProcessGroup {
  /** Whether other processes may use the store at the same time. */
  readonly hasOthers: boolean
  /** Whether this process has not reached the store for so long that it starts nothing. */
  readonly isCutOff: boolean
  /** Whether the store refuses the records of calls. */
  readonly refusesRecords: boolean
  /** The runs that other processes have. */
  runsOfOthers(): Awaitable<readonly string[]>
  /** Takes background work for a while; returns `false` if another process has taken it. */
  takeTurn(work: string, forMs: number): Awaitable<boolean>
  /** Lets the others compare their rules with those of this process, by a hash. */
  publishRules(hash: string): void
  /** Lets the others know that this process takes no more work. */
  publishDraining(): void
}

/** What a service gives to answer requests that other processes have forwarded. */
export interface AnsweringService<Identity = ForwardableIdentity> {
  /** Headers of every response of the API. */
  readonly headers: Readonly<Record<string, string>>
  /** Answers a request whose caller `OtherProcesses.forwardedBy` knows. */
  handle(request: IncomingMessage, response: ServerResponse): void
  /** Reads a body so that it can be read again. Rejects with a refusal if it is too large. */
  readBody(request: IncomingMessage): Promise<Buffer>
  /** Writes an error to a response. */
  refuse(response: ServerResponse, error: unknown): void
  /** Reports an error that nobody gets as an answer. */
  report(error: unknown): void
  /** Begins a stream of events on a response, with a bound on what is buffered for a slow reader. */
  openStream(response: ServerResponse, options: { readonly maxWaitingBytes: number }): ResponseStream
  /** Takes an upgrade request to a WebSocket, with its caller; `headers` are added to the response. */
  accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    forwarded: { readonly identity: Identity; readonly headers: Readonly<Record<string, string>> },
  ): void
}

/** Events on one response. */
export interface ResponseStream {
  /** Whether more is buffered for the reader than allowed. */
  readonly isFull: boolean
  send(type: string, data: unknown, id?: string): void
  end(): void
  /** Sends what is buffered and ends; a reader that does not take it is disconnected. */
  endSoon(): void
}

type People = Extract<ServiceEvent, { type: 'presence' }>['people']

/** The event stream of a service, as it is shared with other processes. */
export interface SharedEvents {
  /** Id of the latest event. */
  readonly position: string
  /** The people who are watching, over all processes that are followed. */
  readonly people: People
  /** Those among them who are watching at this process. */
  readonly ownPeople: People
  /** Calls the listener with events after the one with this id; `isOwn`: only those that others learn from this process. */
  subscribe(
    listener: (event: ServiceEvent, id: string) => void,
    options: { readonly after: string | undefined; readonly isOwn: true },
  ): () => void
  /** Adds an event of another process. */
  relay(event: ServiceEvent, from: string): void
  /** Forgets who was watching at another process. */
  forget(process: string): void
  /** Says that events may be missing: subscribers get `reset`, and so do those that continue after an earlier event. */
  breakOff(): void
  /** Calls the listener when the first subscriber comes and when the last one leaves, other processes not counted. */
  onDemand(listener: (isWanted: boolean) => void): void
}

/** Writes an entry to the log of the service. */
export type WarningLog = (
  level: 'warn',
  event: string,
  message: string,
  fields?: Readonly<Record<string, string | number | undefined>>,
) => void
