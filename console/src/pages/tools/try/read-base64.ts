/** The bytes of a base64 text; nothing for what is none. */
export function readBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    // A tool wrote it: whoever looks is told that it cannot be read.
    return undefined
  }
}
