/** Hands bytes to the browser as a file to keep. */
export function saveFile(name: string, bytes: Uint8Array<ArrayBuffer>): void {
  // Never by its own type: what a tool has made must not open as a page of this origin.
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').slice(0, 120) || 'artifact'
  link.click()
  // Some browsers read it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
