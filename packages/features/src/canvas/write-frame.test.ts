import { describe, expect, it } from 'vitest'
import { writeFrame, writePage } from './write-frame.ts'

const frame = (content: string, kind: Parameters<typeof writeFrame>[0]['kind'] = 'html', more = {}) =>
  writeFrame({ kind, content, title: 'T', ...more })

describe('the page of a canvas', () => {
  it('holds the content in a frame that has no origin, and says its title as text', () => {
    const page = writePage({ kind: 'html', content: `"></iframe><script>top.x = 1</script>`, title: '"><img>' })
    expect(page.match(/<iframe|<\/iframe>|<script|<img/g)).toEqual(['<iframe', '</iframe>'])
    expect(page).toContain('sandbox="allow-scripts"')
    expect(page).toContain('<title>&#34;&#62;&#60;img&#62;</title>')
  })

  it('runs the guard before anything of the content', () => {
    const html = frame('<!doctype html><html><head><script>first</script>')
    expect(html.indexOf('RTCPeerConnection')).toBeGreaterThan(0)
    expect(html.indexOf('RTCPeerConnection')).toBeLessThan(html.indexOf('<script>first'))
    expect(html.indexOf('http-equiv="Content-Security-Policy"')).toBeLessThan(html.indexOf('RTCPeerConnection'))
  })

  it('has no shadow roots by markup, which the guard could not watch', () => {
    expect(frame('<template ShadowRootMode=closed>')).not.toMatch(/\sshadowrootmode/i)
  })

  it.each(['markdown', 'mermaid', 'vega-lite'] as const)(
    'hands %s to our script as data that cannot end it',
    (kind) => {
      const content = '</script><script>alert(1)</script><!--\u2028'
      const html = frame(content, kind, { script: { source: 'draw("</script>")' }, theme: 'dark' })
      expect(html.match(/<script/g)).toHaveLength(3)
      expect(html).toContain('draw("\\x3c/script>")')
      const [, json] = /id="canvas">([^<]*)<\/script>/.exec(html)!
      expect(JSON.parse(json!)).toEqual({ content, theme: 'dark' })
    },
  )

  it.each([
    ['<h1>Words</h1>', true],
    ['<style>@media (prefers-color-scheme: dark){h1{color:red}}</style><h1>Words</h1>', true],
    ['<h1 style="color:#222">Words</h1>', false],
    ['<body bgcolor=ivory>Words', false],
    ['<script>document.body.style.background = "ivory"</script>', false],
    ['<svg><text>Words</text></svg>', false],
  ])('shows %s on a dark page: %s', (content, isDark) => {
    const html = frame(content, 'html', { theme: 'dark' })
    expect(html.includes(':root{color-scheme:dark}')).toBe(isDark)
    expect(html.includes(':root{color-scheme:light;background:#fff}')).toBe(!isDark)
    expect(frame(content)).toContain(':root{color-scheme:light;background:#fff}')
  })

  it('says so where the script that draws it was not built', () => {
    expect(frame('graph', 'mermaid')).toContain('has not been built')
  })

  it('shows the fields of a form as text', () => {
    expect(frame('{"a":"<b>"}', 'form')).toContain('<pre>{&#34;a&#34;:&#34;&#60;b&#62;&#34;}</pre>')
  })
})
