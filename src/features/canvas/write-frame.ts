import { escapeLine } from '../../lib/index.ts'
import type { CanvasKind } from './types.ts'

/**
 * The first script of every canvas. The policy of the page keeps fetches, forms, windows and other addresses away; what no
 * policy of a page reaches is kept away here: WebRTC, and frames within the frame, which would have it anew. It takes all
 * that it uses before anybody else's script can change it.
 */
const FRAME_GUARD = `(() => {
  const bind = (method) => Function.prototype.call.bind(method)
  const getter = (owner, name) => bind(Object.getOwnPropertyDescriptor(owner.prototype, name).get)
  const drop = (owner, names) => { for (const name of names) if (owner) delete owner[name] }

  drop(window, ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel', 'WebTransport',
    'WebSocketStream', 'XSLTProcessor', 'PresentationRequest', 'PaymentRequest'])
  // Shadow roots by markup, and a document written anew, would not be watched.
  drop(Document.prototype, ['open', 'close', 'write', 'writeln', 'streamHTMLUnsafe'])
  drop(Document, ['parseHTMLUnsafe'])
  for (const owner of [Element, ShadowRoot])
    for (const name of Object.getOwnPropertyNames(owner.prototype)) if (/HTMLUnsafe$/.test(name)) delete owner.prototype[name]

  // A link goes nowhere from here; within the page it does, which the browser would take for another address.
  addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const place = link?.getAttribute('href') ?? link?.getAttribute('xlink:href')
    if (place == null) return
    event.preventDefault()
    if (place.startsWith('#')) document.getElementById(decodeURIComponent(place.slice(1)))?.scrollIntoView()
  })

  const FRAMES = 'iframe, frame, frameset, object, embed, fencedframe, portal'
  const find = [bind(Document.prototype.querySelectorAll), bind(DocumentFragment.prototype.querySelectorAll)]
  const lengthOf = getter(NodeList, 'length')
  const item = bind(NodeList.prototype.item)
  const remove = bind(Element.prototype.remove)
  const observe = bind(MutationObserver.prototype.observe)
  const addRoot = bind(Set.prototype.add)
  const eachRoot = bind(Set.prototype.forEach)
  const roots = new Set()
  const clear = (list) => { for (let at = lengthOf(list) - 1; at >= 0; at--) remove(item(list, at)) }
  const observer = new MutationObserver(() => {
    clear(find[0](document, FRAMES))
    eachRoot(roots, (root) => clear(find[1](root, FRAMES)))
  })
  observe(observer, document, { childList: true, subtree: true })
  const attach = bind(Element.prototype.attachShadow)
  Element.prototype.attachShadow = function attachShadow(init) {
    // A clone of it would not be watched.
    const root = attach(this, { mode: init?.mode, delegatesFocus: init?.delegatesFocus === true })
    addRoot(roots, root)
    observe(observer, root, { childList: true, subtree: true })
    return root
  }
})()`

/** What a frame shows. */
export interface FrameContent {
  readonly kind: CanvasKind
  readonly content: string
  readonly title: string
  readonly theme?: 'light' | 'dark'
  /** Our script that draws this kind: its text, or its host and path. */
  readonly script?: { readonly source: string } | { readonly place: string }
}

/** The document of a canvas itself: the guard first, then what the agent gave, as page or as data of our script. */
export function writeFrame({ kind, content, title, theme = 'light', script }: FrameContent): string {
  const place = script && 'place' in script ? script.place : undefined
  const head = [
    '<!doctype html>',
    // Read first, so that nothing in the content comes before it.
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    writeScript(FRAME_GUARD),
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
  ]
  if (kind === 'html') {
    const sheet = theme === 'dark' && followsTheme(content) ? 'color-scheme:dark' : 'color-scheme:light;background:#fff'
    const body = `<title>${escapeHtmlText(title)}</title><style>:root{${sheet}}</style>${plain(content)}`
    return [...head, body].join('\n')
  }
  const style = `:root{color-scheme:${theme}}body{margin:16px;font:15px/1.5 system-ui,sans-serif}pre{white-space:pre-wrap}`
  head.push(`<title>${escapeHtmlText(title)}</title>`, `<style>${style}</style>`)
  if (kind === 'form')
    return [...head, `<h1>${escapeHtmlText(title)}</h1>`, `<pre>${escapeHtml(content)}</pre>`].join('\n')
  return [
    ...head,
    `<script type="application/json" id="canvas">${writeData({ content, theme })}</script>`,
    '<main id="shown"></main>',
    place === undefined
      ? writeScript(script && 'source' in script ? script.source : MISSING)
      : `<script src="//${escapeHtml(place)}"></script>`,
  ].join('\n')
}

const COLOURS = /\b(?:background|bgcolor|color|fill|stroke)\b|<(?:svg|canvas|link)\b/i

/**
 * Whether HTML is readable on a dark page: it says what it looks like there, or has no colours of its own. Colours that were
 * chosen for a white page stay on a white one.
 */
function followsTheme(html: string): boolean {
  return /color-scheme/i.test(html) || !COLOURS.test(html)
}

/** Shadow roots that come with the markup cannot be watched by the guard, so there are none. */
function plain(html: string): string {
  return html.replaceAll(/shadowrootmode/gi, 'data-no-$&')
}

const MISSING = `document.getElementById('shown').textContent = 'This is drawn by a part of tool-hub that is not built here.'`

/** What a canvas may load, as its page says it: nothing from anywhere but our own scripts, where it needs one. */
export function pagePolicy(scripts: readonly string[] = []): string {
  return [
    "default-src 'none'",
    ["script-src 'unsafe-inline'", ...scripts].join(' '),
    "style-src 'unsafe-inline'",
    'img-src data: blob:',
    'font-src data:',
    'media-src data: blob:',
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ')
}

/** Text in a page: neither markup nor something that hides or reorders words. */
export function escapeHtmlText(text: string): string {
  return escapeHtml(escapeLine(text))
}

/** Any text as the value of an attribute in quotes, where it stays the same. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** A value as the JSON of a script element, which no text in it can end. */
export function writeData(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A script of ours as an element; nothing in it can end the element or begin a comment. */
export function writeScript(source: string): string {
  return `<script>${source.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')}</script>`
}
