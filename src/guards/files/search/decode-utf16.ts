/** The text of UTF-16 bytes, without a mark. */
export function decodeUtf16(bytes: Uint8Array, encoding: 'utf-16le' | 'utf-16be'): string {
  return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes)
}
