// Runs ssrf.jsonl through the network guard: a fake resolver, and every connection ends at a server on loopback.
import { BlockList, isIP } from 'node:net'
import { ToolError } from '../../packages/tool-hub/dist/index.js'
import { createNetworkGuard } from '../../packages/tool-hub/dist/testing.js'
import { certificateFor } from './certificate.mjs'
import { startProxyTrap } from './proxy-trap.mjs'
import { scoreCase } from './score.mjs'
import { startScriptedServer } from './scripted-server.mjs'

const POLICIES = {
  open: { allowedHosts: ['*'], privateRanges: [] },
  list: { allowedHosts: ['api.github.com', '*.openai.com', 'example.com', 'münchen.example'], privateRanges: [] },
  dev: { allowedHosts: ['127.0.0.1', 'dev.internal'], privateRanges: ['127.0.0.1/32', '10.1.2.0/24'] },
}
const TIMEOUT_MS = 10_000
const never = new AbortController().signal

/** The scores of all cases. */
export async function runSsrf(attacks) {
  const server = await startScriptedServer()
  const trap = await startProxyTrap()
  const scores = []
  try {
    for (const attack of attacks) scores.push(scoreCase(attack, await runCase(attack, server, trap)))
    return scores
  } finally {
    server.close()
    trap.close()
  }
}

async function runCase(attack, server, trap) {
  const policy = POLICIES[attack.policy]
  if (!policy) throw new Error(`${attack.id}: no policy ${attack.policy}`)
  const dialled = []
  const certificate = certificateFor(hostsOf(attack))
  server.play(attack.redirects ?? [], certificate)
  const guard = createNetworkGuard({
    ...policy,
    maxBytes: 1_000_000,
    timeoutMs: TIMEOUT_MS,
    userAgent: 'attacks',
    ca: certificate.cert,
    resolve: resolver(attack),
    dial(address) {
      dialled.push(address)
      return server.dial()
    },
  })
  let got
  const proxied = await trap.within(attack.env ?? {}, async () => {
    got = await ask(guard, attack)
  })
  await guard.close()
  return { ...got, effects: effectsOf(attack, policy, got, dialled, proxied) }
}

/** As a call does: policy asks the guard for the normal form first, then the handle is used. */
async function ask(guard, { url, method, body }) {
  try {
    guard.resolve(url)
    const fetch = guard.handle({ signal: () => never })
    const response = await fetch(url, { method, body: body ?? (method === 'POST' ? 'x' : undefined) })
    await response.text()
    return { verdict: 'allow' }
  } catch (error) {
    const problem = ToolError.is(error) && error.code !== 'INTERNAL' ? undefined : 'not a typed refusal'
    return { verdict: 'deny', code: error?.code ?? error?.name, message: String(error?.message), problem }
  }
}

function resolver({ dns = {}, dns_seq = {} }) {
  const asked = new Map()
  return async (host) => {
    if (Object.hasOwn(dns_seq, host)) {
      const turn = asked.get(host) ?? 0
      asked.set(host, turn + 1)
      return dns_seq[host].at(Math.min(turn, dns_seq[host].length - 1))
    }
    if (Object.hasOwn(dns, host)) return dns[host]
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' })
  }
}

function effectsOf({ never_connect = [], must_connect = [] }, { privateRanges }, { verdict }, dialled, proxied) {
  const opened = listOf(privateRanges)
  const forbidden = dialled.filter(
    (address) => never_connect.includes(address) || (includes(SPECIAL, address) && !includes(opened, address)),
  )
  const missing = verdict === 'allow' ? must_connect.filter((address) => !dialled.includes(address)) : []
  return [
    ...forbidden.map((address) => `dialled ${address}`),
    ...missing.map((address) => `did not dial ${address}`),
    ...(verdict === 'allow' && dialled.length === 0 ? ['answered without a connection'] : []),
    ...(proxied > 0 ? ['went over a proxy of the environment'] : []),
  ]
}

/** A second opinion on what was dialled that shares nothing with the guard's own. */
const SPECIAL = listOf([
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
  ...['168.63.129.16/32', '100.100.100.200/32', '::/127', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  ...['::ffff:127.0.0.0/104', '::ffff:10.0.0.0/104', '::ffff:192.168.0.0/112', '::ffff:169.254.0.0/112'],
])

function listOf(ranges) {
  const list = new BlockList()
  for (const range of ranges) {
    const [address, bits] = range.split('/')
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

function includes(list, address) {
  return isIP(address) > 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** Every host that a case could lead to, so that no case is refused for want of a certificate. */
function hostsOf({ url, dns = {}, dns_seq = {}, redirects = [] }) {
  const urls = [url, ...redirects.map(({ location }) => location)].flatMap((text) => {
    try {
      return [new URL(text, 'https://example.com').hostname]
    } catch {
      return []
    }
  })
  const hosts = [...urls, ...Object.keys(dns), ...Object.keys(dns_seq), 'localhost']
    .map((host) => host.replace(/^\[|\]$|\.$/g, ''))
    .filter((host) => /^[\w.:-]+$/.test(host))
  return [...new Set(hosts)]
}
