import type { ServiceEvent } from '../protocol/service.ts'
import { ApiError } from './api-error.ts'
import { reconnectDelayMs, waitFor } from './backoff.ts'
import type { HttpRequests } from './http-requests.ts'
import { readSse } from './read-sse.ts'

/** Which events to follow, and from where on. */
export interface FollowOptions {
  /** Only events of these types. Default: all that the client may see. */
  readonly types?: readonly ServiceEvent['type'][]
  /** Id of the last event that came. */
  readonly after?: string
  /** Ends the iteration when it aborts. */
  readonly signal?: AbortSignal
}

/** An event with the id to go on from. */
export type FollowedEvent = ServiceEvent & { readonly id?: string }

/** What happens on the service, as it happens; goes on by itself where it was when the connection drops. */
export async function* followEvents(
  http: HttpRequests,
  { types, after, signal }: FollowOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  let last = after
  for (let attempt = 0; !signal?.aborted; attempt++) {
    try {
      const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
      const response = await http.send('GET', '/v1/events', { query: { types: types?.join(',') }, headers, signal })
      for await (const { data, id } of readSse(response)) {
        attempt = 0
        last = id ?? last
        yield { ...(JSON.parse(data) as ServiceEvent), id }
      }
    } catch (error) {
      if (signal?.aborted) return
      // What is refused for good would be refused again; anything else is a connection that dropped.
      if (error instanceof ApiError && !error.retryable) throw error
      if (error instanceof SyntaxError) throw error
    }
    await waitFor(reconnectDelayMs(attempt), signal)
  }
}
