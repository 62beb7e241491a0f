// A server on loopback that stands for the whole internet: http and https on one port, answers by script.
import { createServer as createHttp } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { connect, createServer } from 'node:net'
import { certificateFor } from './certificate.mjs'

const TLS_HANDSHAKE = 0x16
const NO_BODY = new Set([204, 304])

/** Starts it; `play` sets the script of the next case, `dial` connects to it whatever address was meant. */
export async function startScriptedServer() {
  let script = []
  const sockets = new Set()
  const answer = (request) => request.socket.end(toResponse(script.shift() ?? { status: 200 }, request.method))
  const http = createHttp(answer)
  const https = createHttps(certificateFor(['localhost']), answer)
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.once('data', (first) => {
      socket.pause()
      socket.unshift(first)
      const speaker = first[0] === TLS_HANDSHAKE ? https : http
      speaker.emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
  for (const each of [http, https]) each.on('clientError', (_, socket) => socket.destroy())
  https.on('tlsClientError', (_, socket) => socket.destroy())
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    play(responses, certificate) {
      script = [...responses]
      https.setSecureContext(certificate)
    },
    dial: () => connect(server.address().port, '127.0.0.1'),
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** Written by hand, so that a hostile Location goes out letter for letter. */
function toResponse({ status, location, headers = {}, body = 'ok' }, method) {
  const isBare = method === 'HEAD' || NO_BODY.has(status)
  const lines = [
    `HTTP/1.1 ${status} Scripted`,
    ...(location === undefined ? [] : [`location: ${location}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(isBare ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
    'content-type: text/plain',
    'connection: close',
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${isBare ? '' : body}`)
}
