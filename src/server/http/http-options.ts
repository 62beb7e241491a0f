import type { Clock } from '../../core/index.ts'
import type { AnswerPages } from '../approvals/answer-pages.ts'
import type { Authenticator } from '../auth/create-authenticator.ts'
import type { Service } from '../service.ts'
import type { ProtectedResource } from './protected-resource.ts'

/** What the HTTP door is made of. */
export interface HttpOptions {
  readonly service: Service
  readonly authenticator: Authenticator
  /** The pages behind the links of webhooks, where there are any. */
  readonly answers?: AnswerPages
  /** `/mcp` as a resource of OAuth, where people sign in with an identity provider. */
  readonly resource?: ProtectedResource
  /** Folder of the built console; a page says how to build it when there is none. */
  readonly consoleFolder?: string
  /** Names by which this server may be addressed, beside those of loopback, as the authenticator has them. */
  readonly allowedHosts?: readonly string[]
  /** Pages of other origins that may use it: `https://app.example.org`. The authenticator has to know them too. */
  readonly allowedOrigins?: readonly string[]
  /** Bytes of the body of a call; 10 MB unless said. */
  readonly maxCallBytes?: number
  /** Bytes of any other body; 1 MB unless said. */
  readonly maxBodyBytes?: number
  /** Streams of `/v1/events` at once, in all and of one principal; 10,000 and 100 unless said. */
  readonly maxStreams?: { readonly all: number; readonly each: number }
  /** Bytes that wait for a slow reader of events before it is cut off; 1 MB unless said. */
  readonly maxWaitingBytes?: number
  /** Hears of failures that nobody expected. */
  readonly onError?: (error: unknown) => void
  readonly clock?: Clock
}
