import { setTimeout as wait } from 'node:timers/promises'
import { Agent } from './agent.mjs'
import { Approvers } from './approvers.mjs'
import { auditVerify } from './audit-verify.mjs'
import { HttpClient } from './http-client.mjs'
import { Latencies } from './latencies.mjs'
import { makeTokens } from './make-tokens.mjs'
import { startProcess } from './service-process.mjs'
import { WsClient } from './ws-client.mjs'

const MIB = 1024 * 1024
const SOCKETS_OF_AGENTS = 40
const SLOW_READERS = 5
const MAX_GROWTH = 200 * MIB

/** Many concurrent agents, slow readers and idle connections: typed answers, constant memory. */
export async function runLoad(checks, folder, { agents: count, seconds, idle: idleCount }) {
  const service = await startProcess(folder)
  const client = new HttpClient(service.url)
  const [latencies, problems] = [new Latencies(), []]
  const names = Array.from({ length: count }, (_, index) => `agent-${index}`)
  const tokens = await makeTokens(client, service.token, names)
  const people = await makeTokens(client, service.token, ['ann', 'ben', 'slow'], ['approve', 'read'])
  const approvers = new Approvers()
  await approvers.start(client, service.url, people)
  const sockets = await connectAll(service.url, tokens.slice(0, SOCKETS_OF_AGENTS))
  const slow = await openSlowReaders(client, service.url, people[2])
  const idle = await connectAll(
    service.url,
    Array.from({ length: idleCount }, (_, index) => tokens[index % count]),
  )

  const stop = new AbortController()
  const working = names.map((name, index) =>
    new Agent(name, { client, token: tokens[index], socket: sockets[index], latencies, problems }).work(stop.signal),
  )
  const warmUpMs = Math.min(60_000, seconds * 250)
  await wait(warmUpMs)
  const before = await service.residentBytes()
  await wait(seconds * 1_000 - warmUpMs)
  const after = await service.residentBytes()
  stop.abort()
  await Promise.all(working)
  await approvers.stop()

  latencies.print()
  console.log(
    `  ${(latencies.count / seconds).toFixed(0)} calls a second; memory ${toMib(before)} MB after the warm-up, ${toMib(after)} MB at the end; ` +
      `${idle.filter(({ closed }) => closed === undefined).length} idle WebSockets; started in ${service.startMs.toFixed(0)} ms`,
  )
  checks.that(
    `all ${latencies.count} answers are typed, and what they should be`,
    problems.length === 0,
    firstOf(problems),
  )
  checks.that(
    'memory is flat',
    after < before * 2 || after - before < MAX_GROWTH,
    `${toMib(before)} -> ${toMib(after)} MB`,
  )
  checkApprovals(checks, approvers)
  const lost = idle.filter(({ closed }) => closed !== undefined)
  checks.that(
    `${idleCount} idle WebSockets stay`,
    lost.length === 0,
    lost.length > 0 ? `${lost.length} were closed: ${lost[0].closed}` : '',
  )
  const answers = await Promise.all(idle.slice(0, 20).map((each) => each.call('load.echo', { text: 'still there' })))
  checks.that(
    'and still work',
    answers.every(({ result }) => result?.ok),
    firstOf(answers.filter(({ result }) => !result?.ok)),
  )

  for (const each of [...idle, ...sockets]) each.terminate()
  for (const each of slow) each()
  client.close()
  const code = await service.stop()
  // 143 says that a signal asked for it, and that it was heard.
  checks.that('the service ends in good order', code === 143, `exit code ${code} ${service.complaints}`)
  await auditVerify(checks, folder)
}

function checkApprovals(checks, { answers, problems }) {
  checks.that('every answer to an ask is taken or told that it was late', problems.length === 0, firstOf(problems))
  const wrong = [...answers].filter(([, { winners }]) => winners !== 1)
  checks.that(`one answer of each of ${answers.size} asks won`, answers.size > 0 && wrong.length === 0, firstOf(wrong))
}

/** A few at a time: what is measured is that they stay, not how they come. */
async function connectAll(url, tokens) {
  const clients = []
  for (let start = 0; start < tokens.length; start += 50) {
    const some = tokens.slice(start, start + 50).map((token) => WsClient.connect(url, token))
    clients.push(...(await Promise.all(some)))
  }
  return clients
}

/** They want to hear everything, and read nothing. Gives how to let go of each. */
async function openSlowReaders(client, url, token) {
  const closes = []
  for (let count = 0; count < SLOW_READERS; count++) {
    const { response, close } = await client.open('/v1/events', { token })
    response.pause()
    const socket = await WsClient.connect(url, token)
    socket.watch(['call', 'run', 'approval'])
    socket.pause()
    closes.push(close, () => socket.terminate())
  }
  return closes
}

function firstOf(list) {
  return list.length === 0 ? '' : `${list.length}, first ${JSON.stringify(list[0])}`
}

function toMib(bytes) {
  return (bytes / MIB).toFixed(0)
}
