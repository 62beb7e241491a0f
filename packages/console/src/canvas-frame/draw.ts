/** Draws a kind of canvas into the element, or throws if the content is invalid. */
export type Draw = (content: string, place: HTMLElement, theme: 'light' | 'dark') => Promise<void> | void

declare global {
  interface Window {
    /** Resolves when the canvas is drawn, with the problem of its content, if any. Read before taking a screenshot. */
    canvasDrawn?: Promise<string | undefined>
  }
}

/** Draws the canvas of this document. Invalid content is shown as text, below the error. */
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
