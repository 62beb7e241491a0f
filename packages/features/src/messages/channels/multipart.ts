import { randomBytes } from 'node:crypto'
import type { MessageFile } from '../channel.ts'

/** A `multipart/form-data` body. */
export interface Multipart {
  readonly contentType: string
  readonly body: Uint8Array
  /** The body to show to people, without the contents of files. */
  readonly shown: string
}

/** Encodes fields and files; file names must be safe already. */
export function multipart(
  fields: Readonly<Record<string, string>>,
  files: ReadonlyMap<string, MessageFile>,
  boundary = `tool-hub-${randomBytes(16).toString('hex')}`,
): Multipart {
  const pieces: (string | Uint8Array)[] = []
  const shown: string[] = []
  const add = (text: string) => {
    pieces.push(text)
    shown.push(text)
  }
  for (const [name, value] of Object.entries(fields))
    add(`--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
  for (const [field, { name, mediaType, content }] of files) {
    add(`--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="${name}"\r\n`)
    add(`content-type: ${mediaType}\r\n\r\n`)
    pieces.push(content)
    shown.push(`(${content.byteLength} bytes)`)
    add('\r\n')
  }
  add(`--${boundary}--\r\n`)
  const body = Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
  return { contentType: `multipart/form-data; boundary=${boundary}`, body, shown: shown.join('') }
}
