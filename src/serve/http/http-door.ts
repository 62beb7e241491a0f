import { type Clock, systemClock } from '../../clock.ts'
import type { AnswerDoor } from '../asks/create-answer-door.ts'
import type { Doorkeeper } from '../auth/create-doorkeeper.ts'
import type { Service } from '../service.ts'
import { CallTurns } from './call/call-turns.ts'
import type { HttpParts } from './http-parts.ts'
import { McpDoors } from './mcp-doors.ts'
import type { ProtectedResource } from './protected-resource.ts'
import type { BodyLimits } from './read-body.ts'
import { Readiness } from './readiness.ts'
import { StreamTable } from './stream/stream-table.ts'

const MOST_CALL_BYTES = 10_000_000
const MOST_BODY_BYTES = 1_000_000
const MOST_STREAMS = { all: 10_000, each: 100 }

/** What all requests of one HTTP door share. */
export class HttpDoor {
  readonly service: Service
  readonly doorkeeper: Doorkeeper
  readonly answers: AnswerDoor | undefined
  readonly resource: ProtectedResource | undefined
  readonly clock: Clock
  readonly callLimits: BodyLimits
  readonly bodyLimits: BodyLimits
  readonly maxBodyBytes: number
  readonly maxWaitingBytes: number | undefined
  readonly turns = new CallTurns()
  readonly streams: StreamTable
  readonly mcp: McpDoors
  readonly readiness: Readiness
  /** The OpenAPI document of all routes. */
  readonly document: () => string
  isClosing = false
  readonly #onError: HttpParts['onError']

  constructor(parts: HttpParts, document: () => string) {
    this.document = document
    const { service, doorkeeper, clock = systemClock, allowedHosts, allowedOrigins } = parts
    this.service = service
    this.doorkeeper = doorkeeper
    this.answers = parts.answers
    this.resource = parts.resource
    this.clock = clock
    const maxEntries = service.hub.maxInputEntries
    this.callLimits = { maxBytes: parts.maxCallBytes ?? MOST_CALL_BYTES, maxEntries }
    this.maxBodyBytes = parts.maxBodyBytes ?? MOST_BODY_BYTES
    this.bodyLimits = { maxBytes: this.maxBodyBytes, maxEntries }
    this.maxWaitingBytes = parts.maxWaitingBytes
    this.#onError = parts.onError
    this.streams = new StreamTable(parts.maxStreams ?? MOST_STREAMS)
    this.mcp = new McpDoors({
      allowedHosts,
      allowedOrigins,
      maxBodyBytes: this.callLimits.maxBytes,
      maxBodyEntries: maxEntries,
      clock,
      onError: this.report,
    })
    this.readiness = new Readiness(service, clock)
  }

  readonly report = (error: unknown): void => {
    this.#onError?.(error)
  }

  /** Takes nothing new, ends who only listens; calls under way go on. */
  async close({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.isClosing = true
    this.streams.endAll()
    await this.mcp.close({ graceMs })
  }
}
