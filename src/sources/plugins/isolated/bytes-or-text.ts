import { z } from 'zod'

/** Bytes as they go over a wire. */
export const wireBytes = z.strictObject({ base64: z.string() }).transform(({ base64 }) => Buffer.from(base64, 'base64'))

/** A text, or bytes as they go over a wire. */
export const bytesOrText = z.union([z.string(), wireBytes])
