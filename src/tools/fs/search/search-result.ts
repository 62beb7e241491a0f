import { z } from 'zod'

const count = z.int().min(0)

/** What a search returns: lines in `matches`, or files with their counts in `files`. */
export const searchResult = z.strictObject({
  matches: z.array(
    z.strictObject({
      file: z.string().describe('Path, beginning with the root as it was given.'),
      lineNo: z.int().min(1).describe('1-based.'),
      excerpt: z.string().describe('The line, or what is around the match in a long one.'),
      isContext: z.literal(true).optional().describe('A line around a match.'),
    }),
  ),
  files: z
    .array(z.strictObject({ file: z.string(), matches: count.optional().describe('Matching lines, with count.') }))
    .optional()
    .describe('With outputMode files_with_matches or count.'),
  isComplete: z.boolean().describe('False when a limit ended the search before all files were searched.'),
  skipped: count
    .optional()
    .describe('Files that could not be looked into: unreadable, too large or changed meanwhile.'),
  searched: z.string().optional().describe('Real path of the folder or file; given when nothing was found.'),
  page: z
    .strictObject({
      offset: count,
      total: count.describe('Matches, or files, that were found in all.'),
      next: count.optional().describe('The offset to go on with; missing at the end.'),
    })
    .optional()
    .describe('With offset: which part of what was found this is.'),
})

/** What a search returns. */
export type SearchTextResult = z.infer<typeof searchResult>
