/** The address of a canvas, or of the list alone. */
export function canvasPath(id?: string): string {
  return id === undefined ? '/canvas' : `/canvas/${encodeURIComponent(id)}`
}

/** Where the service shows it, held in a frame without network; for an `<iframe>` or a tab of its own. */
export function viewPath(id: string, version: number, theme: 'light' | 'dark'): string {
  return `/v1/canvases/${encodeURIComponent(id)}/view?version=${version}&theme=${theme}`
}
