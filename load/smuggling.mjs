import { connect } from 'node:net'
import { hostileRequests } from './hostile-requests.mjs'
import { WsClient } from './ws-client.mjs'

const QUIET_MS = 700
const MAX_MS = 5_000

/** Sends what no client would: each is refused, none is read as two requests, and the service lives. */
export async function checkSmuggling(checks, { client, service, token }) {
  const { host, hostname, port } = new URL(service.url)
  const wrong = []
  const requests = Object.entries(hostileRequests({ host, token }))
  await Promise.all(
    requests.map(async ([name, pieces]) => {
      const text = await exchange({ host: hostname, port: Number(port) }, pieces)
      const statuses = Array.from(text.matchAll(/^HTTP\/1\.1 (\d{3})/gm), ([, status]) => Number(status))
      // A call that took the road says in its result what is wrong with it.
      const isRefused = statuses.length === 1 && (isClientError(statuses[0]) || isBadInput(text))
      if (!isRefused) wrong.push(`${name}: ${statuses.join(' ') || 'no answer'}`)
    }),
  )
  checks.that(`${requests.length} hostile requests are refused, one answer each`, wrong.length === 0, wrong.join('; '))
  await checkLargeMessage(checks, service.url, token)
  const { status, json } = await client.call(token, 'load.echo', { input: { text: 'still there' } })
  checks.that('and the service lives', status === 200 && json.ok && service.isAlive, String(status))
}

async function checkLargeMessage(checks, url, token) {
  const socket = await WsClient.connect(url, token)
  const { lost } = await socket.call('load.echo', { text: 'x'.repeat(11 * 1_048_576) })
  checks.that('a message that is too large closes its WebSocket', lost === 1009, String(lost))
}

function isClientError(status) {
  return status >= 400 && status < 500
}

function isBadInput(text) {
  return text.startsWith('HTTP/1.1 200') && text.includes('"code":"INPUT_SCHEMA_INVALID"')
}

/** What comes back until the other side closes, or has nothing more to say. */
function exchange(address, pieces) {
  return new Promise((resolve) => {
    const socket = connect(address)
    let text = ''
    let quiet
    const done = () => {
      clearTimeout(quiet)
      clearTimeout(latest)
      socket.destroy()
      resolve(text)
    }
    const latest = setTimeout(done, MAX_MS)
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece
      clearTimeout(quiet)
      quiet = setTimeout(done, QUIET_MS)
    })
    socket.on('end', done).on('close', done)
    // What is refused early is not read to its end.
    socket.on('error', () => {})
    for (const piece of pieces) socket.write(piece, 'latin1')
  })
}
