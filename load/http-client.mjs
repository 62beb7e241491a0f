import { Agent, request as send } from 'node:http'

/** A client of one service, over connections that stay open. */
export class HttpClient {
  #url
  #agent

  constructor(url, { sockets = 512 } = {}) {
    this.#url = url
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets, scheduling: 'fifo' })
  }

  close() {
    this.#agent.destroy()
  }

  /**
   * Rejects when no whole answer comes. `isFresh` opens a connection for this request: the service may close one that was idle
   * at the moment in which a busy machine sends on it.
   */
  request(method, path, { token, body, headers = {}, timeoutMs = 60_000, isFresh = false } = {}) {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const request = send(
        new URL(path, this.#url),
        {
          method,
          agent: isFresh ? false : this.#agent,
          headers: {
            ...(token && { authorization: `Bearer ${token}` }),
            ...(text !== undefined && {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(text),
            }),
            ...headers,
          },
        },
        (response) => {
          const pieces = []
          response.on('data', (piece) => pieces.push(piece))
          response.on('end', () => resolve(answerOf(response, Buffer.concat(pieces).toString())))
          response.on('error', reject)
        },
      )
      request.setTimeout(timeoutMs, () => request.destroy(new Error(`${method} ${path} hung for ${timeoutMs} ms.`)))
      request.on('error', reject)
      request.end(text)
    })
  }

  /** Calls a tool. */
  call(token, tool, body, options = {}) {
    return this.request('POST', `/v1/tools/${encodeURIComponent(tool)}/call`, { ...options, token, body })
  }

  /** The answer as it comes, for streams that do not end by themselves; `close` ends it. */
  open(path, { token, headers = {} } = {}) {
    return new Promise((resolve, reject) => {
      // A separate connection, which never returns to the pool.
      const options = { agent: false, headers: { authorization: `Bearer ${token}`, ...headers } }
      const request = send(new URL(path, this.#url), options, (response) => {
        response.on('error', () => {})
        resolve({ response, close: () => request.destroy() })
      })
      request.on('error', reject)
      request.end()
    })
  }
}

function answerOf({ statusCode: status, headers }, text) {
  let json
  try {
    json = JSON.parse(text)
  } catch {
    // Not everything is JSON; who needs it looks.
  }
  return { status, headers, text, json }
}
