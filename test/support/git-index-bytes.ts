import { createHash } from 'node:crypto'

/** An entry of an index. */
export interface IndexEntry {
  readonly path: string
  /** The hash of the content, in hexadecimal. Default: zeros. */
  readonly hash?: string
  readonly mode?: number
  readonly flags?: number
}

/** The bytes of an index of version 2 with entries that git itself may refuse to add. */
export function gitIndexBytes(entries: readonly IndexEntry[], ...extensions: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(12)
  header.write('DIRC')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(entries.length, 8)
  const body = Buffer.concat([header, ...entries.map(entryBytes), ...extensions])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

/** The bytes of an extension. */
export function indexExtension(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(8)
  header.write(name)
  header.writeUInt32BE(content.length, 4)
  return Buffer.concat([header, content])
}

function entryBytes({ path, hash = '', mode = 0o100644, flags = 0 }: IndexEntry): Buffer {
  const name = Buffer.from(path)
  const bytes = Buffer.alloc((62 + name.length + 8) & ~7)
  bytes.writeUInt32BE(mode, 24)
  bytes.write(hash, 40, 'hex')
  bytes.writeUInt16BE(Math.min(name.length, 0xfff) | flags, 60)
  name.copy(bytes, 62)
  return bytes
}
