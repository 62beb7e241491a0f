import { GIF } from 'image-size/types/gif'
import { JPG } from 'image-size/types/jpg'
import { PNG } from 'image-size/types/png'
import { WEBP } from 'image-size/types/webp'

/** An image that models can look at. */
export interface ImageFacts {
  readonly mediaType: MediaType
  /** Pixels. */
  readonly width: number
  readonly height: number
}

type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** Bytes of the beginning of a file that tell what kind of image it is. */
export const IMAGE_MARK_BYTES = 16

/** The size stands near the beginning; looking further would only give a hostile file time. */
const HEAD_BYTES = 524_288

const READERS = { 'image/png': PNG, 'image/jpeg': JPG, 'image/gif': GIF, 'image/webp': WEBP }

/** The kind of image that begins like this, by its content and not its name; undefined for anything else. */
export function imageType(head: Buffer): MediaType | undefined {
  const text = head.toString('latin1', 0, IMAGE_MARK_BYTES)
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (text.startsWith('GIF87a') || text.startsWith('GIF89a')) return 'image/gif'
  return text.startsWith('RIFF') && text.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined
}

/** Type and size of an image; undefined when it is damaged or none. */
export function describeImage(content: Buffer): ImageFacts | undefined {
  const mediaType = imageType(content)
  if (!mediaType) return undefined
  const head = content.subarray(0, HEAD_BYTES)
  try {
    const reader = READERS[mediaType]
    if (!reader.validate(head)) return undefined
    const { width, height } = reader.calculate(head)
    return width > 0 && height > 0 ? { mediaType, width, height } : undefined
  } catch {
    // The reader throws all kinds of errors at files that end too early; to us they all say: damaged.
    return undefined
  }
}
