import type { IncomingMessage, ServerResponse } from 'node:http'
import type { CallOptions, ToolResult } from '@tool-hub/core'
import type { WebSocket } from 'ws'
import type { Identity } from './auth/authenticator.ts'
import type { Caller } from './auth/caller.ts'

/** A call that a transport has received. */
export interface RoutedCall {
  readonly caller: Caller
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
export interface CallRouter {
  /** Makes a call where its run is, and follows the run while it moves. */
  call(call: RoutedCall): Promise<ToolResult>
  /** The other processes that callers may have something at; absent if this one answers everything. */
  readonly others?: OtherProcesses
}

/** What a request is about: a run, or something else whose id says which process has it. */
export type Concern = { readonly run: string } | { readonly id: string }

/** The processes that answer requests for each other. */
export interface OtherProcesses {
  /** Marks an id as one of this process, so that every process knows where to find the object that it names. */
  ownId(id: string): string
  /** Who a request comes from that another process has forwarded. It is answered here; `undefined` for any other. */
  forwardedBy(request: IncomingMessage): Identity | undefined
  /**
   * Has a request answered by the process that has what it concerns, and passes the answer on as it arrives; returns
   * `false` if it must be answered here. Throws a refusal.
   */
  answer(concern: Concern, exchange: RoutedExchange): Promise<boolean>
  /**
   * Connects a WebSocket to the process that has its session; returns `false` if that is this one. Throws if the process
   * cannot be reached.
   */
  relay(session: string, socket: RelayedSocket): Promise<boolean>
}

/** A request of HTTP, and the response that the answer of another process is written to. */
export interface RoutedExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly identity: Identity
  /** Reads the body, which can be read again. */
  readonly bytes: () => Promise<Uint8Array>
}

/** A WebSocket of a client whose session is at another process. */
export interface RelayedSocket {
  /** Paused, so that nothing arrives before it is connected. */
  readonly client: WebSocket
  readonly identity: Identity
  /** The first message of the client. */
  readonly hello: string
  /** Messages that arrive while the connection is made. */
  readonly early: readonly string[]
  readonly maxBytes: number
}

/** The router of a process that answers everything itself. */
export const localRouter: CallRouter = {
  call: ({ caller, tool, input, options }) => caller.hub.callDynamic(tool, input, options),
}
