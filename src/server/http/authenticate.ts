import type { IncomingMessage } from 'node:http'
import type { Awaitable } from '../../core/index.ts'
import type { AuthRequest } from '../auth/auth-request.ts'
import type { Admission, Authenticator } from '../auth/create-authenticator.ts'
import type { Refusal } from '../auth/refusal.ts'
import { HttpRefusal } from './answer/http-refusal.ts'

/** Who sent a request; throws what to answer when nobody may. */
export function admit(authenticator: Authenticator, request: IncomingMessage): Awaitable<Admission> {
  const admission = authenticator.admit(new RequestHeaders(request))
  return admission instanceof Promise ? admission.then(welcome) : welcome(admission)
}

/** A request as the authenticator looks at it. Headers that decide who may come in were checked to come once. */
export class RequestHeaders implements AuthRequest {
  readonly #request: IncomingMessage

  constructor(request: IncomingMessage) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method ?? 'GET'
  }

  /** Whole where it came over TLS, which decides how a cookie is set. */
  get url(): string {
    const { url = '/', headers, socket } = this.#request
    return 'encrypted' in socket ? `https://${headers.host}${url}` : url
  }

  get headers(): this {
    return this
  }

  get(name: string): string | null {
    const value = this.#request.headers[name]
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  get remoteAddress(): string | undefined {
    return this.#request.socket.remoteAddress
  }
}

function welcome(admission: Admission | Refusal): Admission {
  if (admission.ok) return admission
  throw HttpRefusal.from(admission)
}
