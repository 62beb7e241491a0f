import {
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { type Artifact, type Clock, callerGone, ToolError, type ToolResult } from '@tool-hub/core'
import { newRunId } from '@tool-hub/runtime/hub'
import { type CallHome, type CallStart, OngoingCall } from './call/ongoing-call.ts'
import { conversationRun } from './conversation.ts'
import type { McpService } from './mcp-service.ts'
import type { ServedHub } from './options.ts'
import { SessionTasks } from './tasks.ts'

const URI = /^artifact:\/\/([A-Za-z0-9._-]{1,64})\/([0-9a-f]{64})(?:\?offset=(\d{1,12}))?$/

const MAX_REMEMBERED = 1_000

/** Bytes of one response. */
const MAX_BYTES = 10_000_000

/** Largest artifact that can be read: each time, the whole artifact is read and its hash verified. */
const MAX_WHOLE_BYTES = 200_000_000

const TEXT = /^text\/|[/+](?:json|xml|yaml|javascript)\b/

/** The artifacts of the calls of one session, which only its client can list and read. */
class SessionArtifacts {
  readonly #hub: ServedHub
  /** By URI; the newest is last. */
  readonly #known = new Map<string, Artifact>()

  constructor(hub: ServedHub) {
    this.#hub = hub
  }

  /** Remembers an artifact of a run; returns its URI. */
  uriOf(artifact: Artifact, run: string): string {
    const uri = `artifact://${run}/${artifact.sha256}`
    this.#known.delete(uri)
    this.#known.set(uri, artifact)
    const [oldest] = this.#known.keys()
    if (this.#known.size > MAX_REMEMBERED) this.#known.delete(oldest!)
    return uri
  }

  /** Only those of one run: another conversation has not read what this one has. */
  list(run: string): Resource[] {
    const own = [...this.#known].filter(([uri]) => uri.startsWith(`artifact://${run}/`))
    return own.map(([uri, { name, mediaType, bytes }]) => ({
      uri,
      name,
      mimeType: mediaType,
      size: bytes,
    }))
  }

  /** Reads at most 10 MB from the offset, only of the run `of` if it is given; `_meta` has the URI of the next part. */
  async read(uri: string, of?: string): Promise<ReadResourceResult> {
    const [, run, hash, offset = '0'] = URI.exec(uri) ?? []
    const artifact = this.#known.get(`artifact://${run}/${hash}`)
    if (!artifact || (of !== undefined && of !== run)) throw notFound(uri)
    if (artifact.bytes > MAX_WHOLE_BYTES) throw tooLarge(uri, artifact)
    const bytes = await this.#load(artifact, run!, uri)
    return { contents: [part(uri, artifact, bytes, Number(offset))] }
  }

  async #load({ ref }: Artifact, run: string, uri: string): Promise<Uint8Array> {
    try {
      return await this.#hub.artifact(ref, { run })
    } catch (error) {
      if (ToolError.is(error) && error.code === 'NOT_FOUND') throw notFound(uri)
      throw error
    }
  }
}

const HOLD_MS = 300_000

const MAX_HELD = 32

/**
 * Calls that wait for a client of the modern era to return with an answer. The protocol is stateless, but a tool with a
 * question during its work cannot start again, so its call is held for at most 5 minutes.
 */
class HeldCalls {
  readonly #clock: Clock
  readonly #held = new Map<string, Held>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isFull(): boolean {
    return this.#held.size >= MAX_HELD
  }

  /**
   * Holds a call under the id of its round. If the client does not return, its input requests are left to the hub's
   * other channels.
   */
  hold(id: string, call: OngoingCall): void {
    const cancelTimer = this.#clock.after(HOLD_MS, () => this.take(id)?.giveUpAsking(), { background: true })
    this.#held.set(id, { call, cancelTimer })
  }

  /** Returns the call of a round, once. */
  take(id: string): OngoingCall | undefined {
    const held = this.#held.get(id)
    this.#held.delete(id)
    held?.cancelTimer()
    return held?.call
  }

  clear(): void {
    for (const id of [...this.#held.keys()]) this.take(id)
  }
}

/** The owner of a session. */
export interface SessionOwner {
  readonly principal?: string
  readonly knownName?: string
  /** Whether its client is asked for approvals and answers, unless the options say otherwise. Default: `true`. */
  readonly asksClient?: boolean
}

const MAX_CALLS = 1_000

/** More would make the list of a client as long as that of all tools. */
const MAX_DESCRIBED = 100

/**
 * The state of one client: a connection over stdio, a session over HTTP, or in the modern era, which has none, one
 * caller. It has its own run, and with it a budget, records and remembered answers; a conversation that the client names
 * has another one.
 */
export class ClientSession {
  readonly service: McpService
  readonly run: string
  /** The owner of its sealed states. */
  readonly principal: string
  /** Its authenticated name, if there is one. */
  readonly knownName: string | undefined
  /** Whether its client may be asked for input. */
  readonly asksClient: boolean
  readonly artifacts: SessionArtifacts
  readonly held: HeldCalls
  readonly tasks: SessionTasks
  /** Canonical names of the tools that its client has asked about, oldest first; they are listed for it. */
  readonly described = new Set<string>()
  readonly #client: string
  readonly #home: CallHome
  readonly #calls = new Set<OngoingCall>()
  #ending: Promise<void> | undefined

  constructor(service: McpService, { principal, knownName, asksClient = true }: SessionOwner = {}) {
    const { hub, clock, options } = service
    this.service = service
    this.run = newRunId(clock, 'mcp')
    this.principal = principal ?? this.run
    this.#client = principal ?? 'stdio'
    this.knownName = knownName
    const asks = options.elicitation ?? asksClient
    this.asksClient = asks !== false
    this.#home = {
      hub,
      asksApprovals: asks === true,
      forms: new Map(),
      onEnd: (call) => void this.#calls.delete(call),
    }
    this.artifacts = new SessionArtifacts(hub)
    this.held = new HeldCalls(clock)
    this.tasks = new SessionTasks(clock, options.ownId)
  }

  /**
   * Returns the run of a conversation that the client names, which no other client can name. Without a name it is that of
   * the session, and `client` says whose: the hub does not know which conversation it is.
   */
  conversation(name: string | undefined): { readonly run: string; readonly client?: string } {
    if (name === undefined) return { run: this.run, client: this.#client }
    return { run: conversationRun(this.#client, name) }
  }

  get isBusy(): boolean {
    return this.#calls.size > 0
  }

  start(start: CallStart): OngoingCall {
    if (this.#ending) throw new ToolError('ABORTED', 'The session has ended.')
    if (this.#calls.size >= MAX_CALLS) throw tooMany()
    const call = new OngoingCall(this.#home, start)
    this.#calls.add(call)
    return call
  }

  /** Lists the tools that a call has described from now on, and tells the client that its list has changed. */
  noteDescribed(name: string, result: ToolResult): void {
    const added = this.service.tools.describedBy(name, result).filter((tool) => !this.described.has(tool))
    if (added.length === 0) return
    for (const tool of added) this.described.add(tool)
    for (const oldest of [...this.described].slice(0, -MAX_DESCRIBED)) this.described.delete(oldest)
    this.service.emitListChange(this)
  }

  /** Resolves when no call is in progress. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled([...this.#calls].map(({ ended }) => ended))
  }

  /** Aborts its calls and closes its run. */
  end(): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    this.held.clear()
    this.tasks.clear()
    for (const call of this.#calls) call.abort(callerGone('The client is gone.'))
    await this.whenIdle()
    await this.service.hub.endRun(this.run)
  }
}

function tooMany(): ProtocolError {
  const message = `This session has ${MAX_CALLS} calls under way and takes no more.`
  return new ProtocolError(ProtocolErrorCode.InternalError, message)
}

interface Held {
  readonly call: OngoingCall
  readonly cancelTimer: () => void
}

function part(uri: string, { mediaType }: Artifact, bytes: Uint8Array, offset: number) {
  const isText = TEXT.test(mediaType)
  const end = endOfPart(bytes, offset, isText)
  const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).subarray(offset, end)
  const next = end < bytes.byteLength && { next: `${uri.replace(/\?.*$/, '')}?offset=${end}` }
  return {
    uri,
    mimeType: mediaType,
    ...(isText ? { text: piece.toString('utf8') } : { blob: piece.toString('base64') }),
    ...((next || offset > 0) && {
      _meta: { 'tool-hub/part': { offset, bytes: piece.byteLength, total: bytes.byteLength, ...next } },
    }),
  }
}

/** Texts are split between characters. */
function endOfPart(bytes: Uint8Array, offset: number, isText: boolean): number {
  let end = Math.min(bytes.byteLength, offset + MAX_BYTES)
  while (isText && end < bytes.byteLength && end > offset && (bytes[end]! & 0xc0) === 0x80) end--
  return end
}

function notFound(uri: string): ProtocolError {
  return new ResourceNotFoundError(uri.slice(0, 200))
}

function tooLarge(uri: string, { bytes }: Artifact): ProtocolError {
  const message = `${uri} has ${bytes} bytes, more than the ${MAX_WHOLE_BYTES} that can be read over MCP.`
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message)
}
