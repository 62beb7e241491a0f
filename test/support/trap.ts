import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server that should receive nothing, and a page that tries every way to reach it. */
export interface Trap {
  readonly url: string
  readonly html: string
  /** A script that sends packets to it by WebRTC, where there is that. */
  readonly webRtc: string
  /** What the page reads where it can read nothing. */
  readonly expected: string
  hits(): readonly string[]
  close(): Promise<void>
}

/** Starts one. */
export async function startTrap(): Promise<Trap> {
  const hits: string[] = []
  const server = createServer((request, response) => {
    hits.push(`${request.method} ${request.url}`)
    response.writeHead(200, { 'access-control-allow-origin': '*', 'content-type': 'text/html' }).end('<p>trap</p>')
  })
  server.on('upgrade', (_, socket) => {
    hits.push('upgrade')
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const packets = createSocket('udp4').on('message', () => hits.push('udp'))
  await new Promise<void>((resolve) => packets.bind(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const webRtc = `(() => {
    const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${packets.address().port}' }] })
    peer.createDataChannel('x')
    return peer.createOffer().then((offer) => peer.setLocalDescription(offer))
  })()`
  return {
    url,
    html: hostilePage(url, webRtc),
    webRtc,
    expected: READS.map(() => 'SecurityError').join(' '),
    hits: () => hits,
    async close() {
      server.closeAllConnections()
      await Promise.all([
        new Promise<void>((resolve) => server.close(() => resolve())),
        new Promise<void>((resolve) => packets.close(resolve)),
      ])
    },
  }
}

const READS = [
  'document.cookie',
  'localStorage.length',
  'sessionStorage.length',
  "indexedDB.open('x')",
  'parent.document.body',
  'top.document.body',
  'top.localStorage',
  'top.location.href',
]

function hostilePage(url: string, webRtc: string): string {
  const nested = `<script>${webRtc}; new Image().src = '${url}nested'; location = '${url}nested-go'</script>`
  const quoted = nested.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const text = JSON.stringify(nested).replaceAll('</', '<\\/')
  return `<!doctype html><html><head>
<link rel="prefetch" href="${url}prefetch"><link rel="preload" as="image" href="${url}preload"><link rel="preconnect" href="${url}">
<link rel="stylesheet" href="${url}style"><link rel="icon" href="${url}icon"><link rel="modulepreload" href="${url}module"><base href="${url}">
<script type="speculationrules">{"prefetch":[{"urls":["${url}speculative"]}]}</script>
<style>@import url(${url}import); @font-face { font-family: f; src: url(${url}font) } body { font-family: f; background: url(${url}background) }</style>
</head><body>
<img src="${url}image" srcset="${url}set 1x"><video src="${url}video" poster="${url}poster"></video><audio src="${url}audio"></audio>
<object data="${url}object"></object><embed src="${url}embed"><iframe src="${url}frame"></iframe><iframe srcdoc="${quoted}"></iframe>
<svg><image href="${url}svg" /><use href="${url}use#x" /></svg><script src="${url}script"></script>
<div><template shadowrootmode="closed"><iframe srcdoc="${quoted}"></iframe></template></div>
<form id="form" action="${url}form" method="post"><input name="a" value="b"></form>
<a id="top" href="${url}top" target="_top">x</a><a id="window" href="${url}window" target="_blank">x</a>
<a id="ping" href="#here" ping="${url}ping">x</a><a id="save" href="${url}save" download>x</a>
<script>
const attempt = (work) => { try { return work() } catch (error) { return error.name } }
const frames = () => {
  const frame = document.createElement('iframe')
  frame.srcdoc = ${text}
  document.body.append(frame)
  const host = document.createElement('div')
  host.attachShadow({ mode: 'closed', clonable: true }).append(Object.assign(document.createElement('iframe'), { srcdoc: ${text} }))
  document.body.append(host, host.cloneNode(true))
}
for (const work of [
  () => fetch('${url}fetch').catch(() => {}),
  () => fetch('${url}no-cors', { mode: 'no-cors', method: 'POST', body: 'x' }).catch(() => {}),
  () => { const request = new XMLHttpRequest(); request.open('GET', '${url}xhr'); request.send() },
  () => navigator.sendBeacon('${url}beacon', 'x'),
  () => new WebSocket('${url}'.replace('http', 'ws')),
  () => new EventSource('${url}events'),
  () => { new Image().src = '${url}new-image' },
  () => new Worker('${url}worker'),
  () => new Worker(URL.createObjectURL(new Blob(["fetch('${url}blob-worker')"]))),
  () => import('${url}import.js').catch(() => {}),
  () => eval("fetch('${url}eval')"),
  () => navigator.serviceWorker.register('${url}service-worker'),
  () => window.open('${url}open'),
  () => form.submit(),
  () => { top.location = '${url}top-location' },
  () => { parent.location = '${url}parent-location' },
  () => document.getElementById('top').click(),
  () => document.getElementById('window').click(),
  () => ping.click(),
  () => document.write('<img src="${url}write">'),
  () => ${webRtc},
  frames,
  // Our guard was first: what it uses is not taken from it.
  () => { NodeList.prototype.item = () => null; Element.prototype.remove = () => {}; Function.prototype.call = () => {}; frames() },
]) attempt(work)
const reads = [${READS.map((read) => `() => ${read}`).join(', ')}]
setTimeout(() => {
  const done = document.createElement('p')
  done.id = 'done'
  done.textContent = reads.map((read) => String(attempt(read))).join(' ')
  document.body.append(done)
}, 500)
function leave() { document.getElementById('save').click(); location = '${url}go' }
</script></body></html>`
}
