import { pagePolicy } from './page-policy.ts'
import { type FrameContent, writeFrame } from './write-frame.ts'
import { writeAttribute, writeText } from './write-html.ts'

/**
 * A whole page with the canvas in a frame of its own. A document that is shown by itself may go to any address; in a frame
 * it is held by the policy of the page around it, which has no script.
 */
export function writePage(shown: FrameContent): string {
  const place = shown.script && 'place' in shown.script ? shown.script.place : undefined
  const { title, theme = 'light' } = shown
  return [
    '<!doctype html>',
    '<html lang="en">',
    `<meta http-equiv="Content-Security-Policy" content="${writeAttribute(pagePolicy(place === undefined ? [] : [place]))}">`,
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    `<title>${writeText(title)}</title>`,
    `<style>:root{color-scheme:${theme}}html,body{height:100%;margin:0}iframe{display:block;width:100%;height:100%;border:0}</style>`,
    `<iframe sandbox="allow-scripts" title="${writeText(title)}" srcdoc="${writeAttribute(writeFrame(shown))}"></iframe>`,
    '</html>',
  ].join('\n')
}
