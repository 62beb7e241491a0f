/** How a kind of canvas is drawn: into the place, or it throws what is wrong with the content. */
export type Draw = (content: string, place: HTMLElement, theme: 'light' | 'dark') => Promise<void> | void

declare global {
  interface Window {
    /** Settles when the canvas is there: with what is wrong with its content, or nothing. Read by who makes a picture of it. */
    canvasDrawn?: Promise<string | undefined>
  }
}

/** Draws the canvas of this document; a content with a mistake is shown as it is, below what is wrong with it. */
export function draw(how: Draw): void {
  const { content, theme } = JSON.parse(document.getElementById('canvas')?.textContent ?? '{}')
  const place = document.getElementById('shown') as HTMLElement
  window.canvasDrawn = (async () => {
    try {
      await how(content, place, theme)
      return undefined
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      showProblem(place, message, content)
      return message
    }
  })()
}

function showProblem(place: HTMLElement, message: string, content: string): void {
  const words = document.createElement('p')
  words.setAttribute('role', 'alert')
  words.textContent = `This cannot be drawn: ${message}`
  const source = document.createElement('pre')
  source.textContent = content
  place.replaceChildren(words, source)
}
