import { describe, expect, it } from 'vitest'
import { drawScript } from './draw-canvas.ts'
import {
  escapeHtml,
  escapeHtmlText,
  pagePolicy,
  SCRIPT_NAMES,
  scriptOf,
  writeData,
  writeFrame,
  writePage,
  writeScript,
} from './write-frame.ts'

const POLICY = [
  ...["default-src 'none'", "script-src 'unsafe-inline'", "style-src 'unsafe-inline'", 'img-src data: blob:'],
  ...['font-src data:', 'media-src data: blob:', "connect-src 'none'", "frame-src 'none'", "form-action 'none'"],
  "base-uri 'none'",
]
const shown = { kind: 'markdown' as const, content: 'x', title: 'A & B' }
const linesOf = (html: string) => html.split('\n')
const policyTag = (policy: string) =>
  `<meta http-equiv="Content-Security-Policy" content="${policy.replaceAll("'", '&#39;')}">`

describe('the policy of a canvas', () => {
  it('loads nothing from anywhere but a script of ours', () => {
    expect(pagePolicy()).toBe(POLICY.join('; '))
    expect(pagePolicy(['hub.example/markdown.js'])).toBe(
      POLICY.join('; ').replace("script-src 'unsafe-inline'", "script-src 'unsafe-inline' hub.example/markdown.js"),
    )
  })
})

describe('the document of a canvas', () => {
  it('begins with its policy, then the guard', () => {
    const lines = linesOf(writeFrame(shown))
    expect(lines.slice(0, 3)).toEqual(['<!doctype html>', policyTag(pagePolicy()), '<meta charset="utf-8">'])
    expect(lines[3]).toMatch(/^<script>\(\(\) => \{/)
    for (const line of [
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
      '<title>A &#38; B</title>',
      '<style>:root{color-scheme:light}body{margin:16px;font:15px/1.5 system-ui,sans-serif}pre{white-space:pre-wrap}</style>',
      '<main id="shown"></main>',
    ])
      expect(lines).toContain(line)
  })

  it('loads the script that draws it from its place', () => {
    const place = 'hub.example/markdown.js'
    const lines = linesOf(writeFrame({ ...shown, script: { place } }))
    expect(lines[1]).toBe(policyTag(pagePolicy([place])))
    expect(lines.at(-1)).toBe(`<script src="//${place}"></script>`)
    expect(linesOf(writePage({ ...shown, script: { place } }))).toContain(policyTag(pagePolicy([place])))
  })

  it('of a page shows what the agent wrote, on white', () => {
    const html = writeFrame({ ...shown, kind: 'html', content: '<p>x</p>' })
    expect(linesOf(html).at(-1)).toBe(
      '<title>A &#38; B</title><style>:root{color-scheme:light;background:#fff}</style><p>x</p>',
    )
    expect(html).not.toContain('<main')
  })

  it('of a form shows its title and its fields', () => {
    const lines = linesOf(writeFrame({ ...shown, kind: 'form', content: '{}', theme: 'dark' }))
    expect(lines.slice(-2)).toEqual(['<h1>A &#38; B</h1>', '<pre>{}</pre>'])
    expect(lines.join()).toContain('color-scheme:dark')
  })

  it('lies in a frame of a page that has no script', () => {
    const lines = linesOf(writePage(shown))
    const frame = escapeHtml(writeFrame(shown)).split('\n')
    expect(lines).toEqual([
      ...['<!doctype html>', '<html lang="en">', policyTag(pagePolicy()), '<meta charset="utf-8">'],
      '<meta name="viewport" content="width=device-width, initial-scale=1">',
      '<meta name="referrer" content="no-referrer">',
      '<title>A &#38; B</title>',
      '<style>:root{color-scheme:light}html,body{height:100%;margin:0}iframe{display:block;width:100%;height:100%;border:0}</style>',
      `<iframe sandbox="allow-scripts" title="A &#38; B" srcdoc="${frame[0]}`,
      ...frame.slice(1, -1),
      `${frame.at(-1)}"></iframe>`,
      '</html>',
    ])
  })
})

describe('text in a page', () => {
  it('is neither markup nor something that hides words', () => {
    expect(escapeHtml(`&<>"'\n`)).toBe('&#38;&#60;&#62;&#34;&#39;\n')
    expect(escapeHtmlText('a\u202eb<')).toBe('a\\u{202e}b&#60;')
    expect(writeData({ a: '<\u2028\u2029' })).toBe('{"a":"\\u003c\\u2028\\u2029"}')
    expect(writeScript('a </SCRIPT> <!-- < b')).toBe('<script>a \\x3c/SCRIPT> \\x3c!-- < b</script>')
  })
})

describe('the scripts of canvases', () => {
  it('draw what needs one', () => {
    expect(SCRIPT_NAMES).toEqual(['markdown.js', 'mermaid.js', 'vega-lite.js'])
    expect((['markdown', 'mermaid', 'vega-lite', 'html', 'form'] as const).map(scriptOf)).toEqual([
      ...['markdown.js', 'mermaid.js', 'vega-lite.js', undefined, undefined],
    ])
  })

  it.each<[string | undefined, object]>([
    [undefined, { problem: 'bad' }],
    ['return 1 + 1', { problem: 'bad', value: 2 }],
    ["throw new Error('oh')", { problem: 'bad', failure: 'oh' }],
    ["throw 'plain'", { problem: 'bad', failure: 'plain' }],
    ["throw new Error('x'.repeat(3000))", { problem: 'bad', failure: 'x'.repeat(2_000) }],
  ])('run %s after the drawing', async (script, said) => {
    const run = new Function('window', `return ${drawScript(script)}`)
    expect(await run({ canvasDrawn: Promise.resolve('bad') })).toEqual(said)
  })
})
