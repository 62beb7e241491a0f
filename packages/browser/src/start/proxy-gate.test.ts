import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GATE_USER, openGate, type ProxyGate } from './proxy-gate.ts'

let folder: string
let gate: ProxyGate
const heard: string[] = []
/** Stands for the proxy of a run. */
const far = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', (chunk) => {
    heard.push(String(chunk))
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nfar')
  })
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gate-'))
  far.listen(join(folder, 'far.sock'))
  await once(far, 'listening')
  gate = await openGate()
})
afterAll(async () => {
  await gate.close()
  far.close()
  await rm(folder, { recursive: true, force: true })
})

async function say(words: string): Promise<string> {
  const socket = connect(gate.port!, '127.0.0.1')
  socket.write(words)
  return text(socket)
}

const ask = (password?: string) => {
  const words = Buffer.from(`${GATE_USER}:${password}`).toString('base64')
  const authorization = password === undefined ? '' : `Proxy-Authorization: Basic ${words}\r\n`
  return `GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n${authorization}\r\n`
}

it('admits the password of a run, to that run, until it leaves', async () => {
  const guest = gate.admit(join(folder, 'far.sock'))
  const other = gate.admit(join(folder, 'nobody.sock'))
  expect(other.password).not.toBe(guest.password)
  expect(await say(ask(guest.password))).toMatch(/far$/)
  expect(heard).toEqual([ask(guest.password)])
  // The way to a proxy that is gone is closed.
  expect(await say(ask(other.password))).toBe('')
  guest.leave()
  expect(await say(ask(guest.password))).toMatch(/^HTTP\/1\.1 407 /)
})

it.each([
  ['nothing', ask()],
  ['a wrong password', ask('0'.repeat(48))],
  ['an empty one', ask('')],
  ['a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\n\r\n'],
  ['a head without end', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`],
  ['a password in the body', `${ask()}Proxy-Authorization: Basic x\r\n`],
])('lets nobody in with %s', async (_, words) => {
  const before = heard.length
  expect(await say(words)).toMatch(/^HTTP\/1\.1 407 .*Proxy-Authenticate: Basic/s)
  expect(heard.length).toBe(before)
})

it('listens for one user only, where it is a unix socket', async () => {
  const path = join(folder, 'gate.sock')
  const own = await openGate({ path })
  expect(own.port).toBeUndefined()
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await own.close()
  await own.close()
})
