import type { CanvasKind } from '../../contracts/canvas.ts'
import { FRAME_GUARD } from './frame-guard.ts'
import { pagePolicy } from './page-policy.ts'
import { writeAttribute, writeData, writeScript, writeText } from './write-html.ts'

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
    `<meta http-equiv="Content-Security-Policy" content="${writeAttribute(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    writeScript(FRAME_GUARD),
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
  ]
  if (kind === 'html') {
    const sheet = theme === 'dark' && followsTheme(content) ? 'color-scheme:dark' : 'color-scheme:light;background:#fff'
    const body = `<title>${writeText(title)}</title><style>:root{${sheet}}</style>${plain(content)}`
    return [...head, body].join('\n')
  }
  const style = `:root{color-scheme:${theme}}body{margin:16px;font:15px/1.5 system-ui,sans-serif}pre{white-space:pre-wrap}`
  head.push(`<title>${writeText(title)}</title>`, `<style>${style}</style>`)
  if (kind === 'form')
    return [...head, `<h1>${writeText(title)}</h1>`, `<pre>${writeAttribute(content)}</pre>`].join('\n')
  return [
    ...head,
    `<script type="application/json" id="canvas">${writeData({ content, theme })}</script>`,
    '<main id="shown"></main>',
    place === undefined
      ? writeScript(script && 'source' in script ? script.source : MISSING)
      : `<script src="//${writeAttribute(place)}"></script>`,
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
