/** A request of a client to the service. */
export interface ServiceRequest {
  /** Parameters of the URL; `undefined` leaves one out. */
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. Default: nothing. */
  readonly body?: unknown
  /** Stops the request when it aborts. */
  readonly signal?: AbortSignal
}

/** Sends requests to the service, for the parts of a client that belong to features. */
export interface ServiceRequests {
  /** The path of one entity of a list; its id may hold any character. */
  path(list: string, id: string): string
  /** The JSON of an answer; rejects with an `ApiError` for any that is not 2xx. */
  json<T>(method: ServiceMethod, path: string, request?: ServiceRequest): Promise<T>
  /** The answer itself; rejects with an `ApiError` for any that is not 2xx. */
  send(method: ServiceMethod, path: string, request?: ServiceRequest): Promise<Response>
}

/** The methods that routes have. */
export type ServiceMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'
