import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { escapeLine } from '@tool-hub/core/lib'
import { readBuiltFile } from '@tool-hub/sandbox/system'
import type { CanvasKind } from './types.ts'

/**
 * The first script of every canvas. The content security policy blocks requests, forms, windows and navigation; this
 * script blocks what a policy cannot: WebRTC, and nested frames, in which it would be available again. It captures all
 * built-ins that it uses before another script can change them.
 */
const FRAME_GUARD = `(() => {
  const bind = (method) => Function.prototype.call.bind(method)
  const getter = (owner, name) => bind(Object.getOwnPropertyDescriptor(owner.prototype, name).get)
  const drop = (owner, names) => { for (const name of names) if (owner) delete owner[name] }

  drop(window, ['RTCPeerConnection', 'webkitRTCPeerConnection', 'mozRTCPeerConnection', 'RTCDataChannel', 'WebTransport',
    'WebSocketStream', 'XSLTProcessor', 'PresentationRequest', 'PaymentRequest'])
  // Declarative shadow roots and rewritten documents would not be observed.
  drop(Document.prototype, ['open', 'close', 'write', 'writeln', 'streamHTMLUnsafe'])
  drop(Document, ['parseHTMLUnsafe'])
  for (const owner of [Element, ShadowRoot])
    for (const name of Object.getOwnPropertyNames(owner.prototype)) if (/HTMLUnsafe$/.test(name)) delete owner.prototype[name]

  // Links lead nowhere, except to anchors, which the browser would treat as navigation.
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
    // A clone of it would not be observed.
    const root = attach(this, { mode: init?.mode, delegatesFocus: init?.delegatesFocus === true })
    addRoot(roots, root)
    observe(observer, root, { childList: true, subtree: true })
    return root
  }
})()`

/** The content of a frame. */
export interface FrameContent {
  readonly kind: CanvasKind
  readonly content: string
  readonly title: string
  readonly theme?: 'light' | 'dark'
  /** The script that draws this kind: its source, or its host and path. */
  readonly script?: { readonly source: string } | { readonly place: string }
}

/** The document of a canvas: the guard, then the content, as HTML or as data of the drawing script. */
export function writeFrame({ kind, content, title, theme = 'light', script }: FrameContent): string {
  const place = script && 'place' in script ? script.place : undefined
  const head = [
    '<!doctype html>',
    // First, so that no content precedes it.
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    writeScript(FRAME_GUARD),
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
  ]
  if (kind === 'html') {
    const sheet = theme === 'dark' && followsTheme(content) ? 'color-scheme:dark' : 'color-scheme:light;background:#fff'
    const body = `<title>${escapeHtmlText(title)}</title><style>:root{${sheet}}</style>${withoutShadowRoots(content)}`
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

/**
 * A complete page with the canvas in a frame. A top-level document could navigate anywhere; a frame is restricted by the
 * policy of the page around it, which has no script.
 */
export function writePage(shown: FrameContent): string {
  const place = shown.script && 'place' in shown.script ? shown.script.place : undefined
  const { title, theme = 'light' } = shown
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<meta http-equiv="Content-Security-Policy" content="${escapeHtml(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${escapeHtmlText(title)}</title>`,
    `<style>:root{color-scheme:${theme}}html,body{height:100%;margin:0}iframe{display:block;width:100%;height:100%;border:0}</style>`,
    `<iframe sandbox="allow-scripts" title="${escapeHtmlText(title)}" srcdoc="${escapeHtml(writeFrame(shown))}"></iframe>`,
    '</html>',
  ].join('\n')
}

const COLOURS = /\b(?:background|bgcolor|color|fill|stroke)\b|<(?:svg|canvas|link)\b/i

/**
 * Whether HTML is readable on a dark page: it sets a color-scheme, or has no colours of its own. Colours that were chosen
 * for a white page stay on a white one.
 */
function followsTheme(html: string): boolean {
  return /color-scheme/i.test(html) || !COLOURS.test(html)
}

/** Removes declarative shadow roots, which the guard cannot observe. */
function withoutShadowRoots(html: string): string {
  return html.replaceAll(/shadowrootmode/gi, 'data-no-$&')
}

const MISSING = `document.getElementById('shown').textContent = 'The script that draws this has not been built.'`

/** The content security policy of a canvas: it loads nothing but the given scripts. */
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

/** Escapes text for a page: markup, and characters that hide or reorder words. */
export function escapeHtmlText(text: string): string {
  return escapeHtml(escapeLine(text))
}

/** Escapes text for a quoted attribute without changing its value. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** A value as JSON for a script element; no text in it can close the element. */
export function writeData(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** A script element; nothing in the source can close it or start a comment. */
export function writeScript(source: string): string {
  return `<script>${source.replaceAll(/<(?=\/script|!--)/gi, '\\x3c')}</script>`
}

const NAMES: Partial<Record<CanvasKind, string>> = {
  markdown: 'markdown.js',
  mermaid: 'mermaid.js',
  'vega-lite': 'vega-lite.js',
}

/** File names of the drawing scripts. */
export const SCRIPT_NAMES: readonly string[] = Object.values(NAMES)

/** The script that draws a kind; `undefined` for HTML and forms, which need none. */
export function scriptOf(kind: CanvasKind): string | undefined {
  return NAMES[kind]
}

/** The source of a drawing script; `undefined` if it has not been built. */
export async function readScript(name: string): Promise<string | undefined> {
  return (await readScriptFile(name))?.bytes.toString('utf8')
}

/** A drawing script, also as it is in the package: compressed. */
export async function readScriptFile(
  name: string,
): Promise<{ readonly bytes: Buffer; readonly brotli: Uint8Array } | undefined> {
  const brotli = await readBuiltFile(`canvas-frame/${name}.br`)
  return brotli && { bytes: await promisify(brotliDecompress)(brotli), brotli }
}
