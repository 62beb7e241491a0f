import mermaid from 'mermaid'
import { draw } from './draw.ts'

draw(async (content, place, theme) => {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    theme: theme === 'dark' ? 'dark' : 'default',
    fontFamily: 'system-ui, sans-serif',
  })
  const { svg } = await mermaid.render('diagram', content)
  place.innerHTML = svg
})
