import type { ContentBlock } from '../../core/index.ts'

/** Bytes or a place that some framework calls a file, an image or a sound. */
export interface Media {
  /** base64. */
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: unknown
  readonly name?: unknown
}

const DATA_URL = /^data:([^;,]+);base64,/

/** The block that a piece of media becomes here; undefined when it holds neither bytes nor a place. */
export function mediaBlock({ data, url, mediaType, name }: Media): ContentBlock | undefined {
  const type = typeof mediaType === 'string' ? mediaType : undefined
  if (typeof url === 'string') {
    const inline = DATA_URL.exec(url)
    if (inline) return mediaBlock({ data: url.slice(inline[0].length), mediaType: type ?? inline[1], name })
    return { type: 'resource-link', uri: url, name: nameOf(name, url), ...(type && { mediaType: type }) }
  }
  const bytes = data instanceof Uint8Array ? Buffer.from(data).toString('base64') : data
  if (typeof bytes !== 'string') return undefined
  if (type?.startsWith('image/')) return { type: 'image', data: bytes, mediaType: type }
  if (type?.startsWith('audio/')) return { type: 'audio', data: bytes, mediaType: type }
  return { type: 'resource', uri: `attachment:${nameOf(name, 'file')}`, data: bytes, ...(type && { mediaType: type }) }
}

function nameOf(name: unknown, otherwise: string): string {
  return typeof name === 'string' && name !== '' ? name : otherwise
}
