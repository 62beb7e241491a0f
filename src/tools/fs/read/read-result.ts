import { z } from 'zod'

const count = z.int().min(0)

/** Result of reading; `page`, `range` and `image` only if a part or an image was requested. */
export const readResult = z.strictObject({
  path: z.string().describe('The path as it was given.'),
  text: z.string().describe('The text; of a page, its lines without the last line end.'),
  bytes: count.describe('Bytes of the whole file.'),
  encoding: z.enum(['utf-8-bom', 'utf-16le', 'utf-16be']).optional().describe('Missing for plain UTF-8.'),
  page: z
    .strictObject({
      from: count.describe('1-based number of the first line.'),
      to: count.describe('1-based number of the last line; smaller than from when there is none.'),
      totalLines: count.describe('Lines of the whole file.'),
      next: count.optional().describe('The line to go on with; missing at the end.'),
      tooLong: z
        .strictObject({ line: count, byteOffset: count, bytes: count })
        .optional()
        .describe('A line that is over the limit by itself; byteOffset and byteLimit read it.'),
    })
    .optional(),
  range: z
    .strictObject({
      byteOffset: count.describe('Where the text begins in the file.'),
      bytes: count.describe('Bytes of the text in the file.'),
      next: count.optional().describe('The byte to go on with; missing at the end.'),
    })
    .optional(),
  image: z
    .strictObject({
      mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']),
      width: count.describe('Pixels.'),
      height: count.describe('Pixels.'),
      data: z.string().describe('The file in base64.'),
    })
    .optional(),
})

/** The content of a file as tools return it. */
export type ReadResult = z.infer<typeof readResult>
