import MarkdownIt from 'markdown-it'
import { draw } from './draw.ts'

// Raw HTML stays text. Links do not work in the frame, so their title shows the address.
const markdown = new MarkdownIt({ html: false, linkify: false })
markdown.core.ruler.push('name-links', ({ tokens }) => {
  for (const token of tokens.flatMap(({ children }) => children ?? []))
    if (token.type === 'link_open') token.attrSet('title', String(token.attrGet('href')))
})

const STYLE = `main{max-width:80ch;margin:0 auto;overflow-wrap:anywhere}
pre,code{font-family:ui-monospace,monospace;font-size:.93em}pre{padding:12px;border:1px solid #8886;border-radius:6px}
table{border-collapse:collapse}th,td{padding:4px 10px;border:1px solid #8886;text-align:start}
blockquote{margin:0;padding-inline-start:12px;border-inline-start:3px solid #8886}img{max-width:100%}`

draw((content, place) => {
  const style = document.createElement('style')
  style.textContent = STYLE
  document.head.append(style)
  place.innerHTML = markdown.render(content)
})
