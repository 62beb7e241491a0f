import { z } from 'zod'
import { readResult } from '../../tools/index.ts'

const { text, bytes, page, image } = readResult.shape

/** What loading a skill returns: its text and files, or one of the files. */
export const loadedSkill = z.strictObject({
  name: z.string(),
  folder: z.string().describe('Where it lies; paths in its text are relative to it.'),
  resource: z.string().optional().describe('The file that was asked for; missing for the text of the skill.'),
  description: z.string().optional(),
  license: z.string().optional(),
  compatibility: z.string().optional(),
  requests: z.array(z.string()).optional().describe('What it asks for; approvers are shown it, nothing is granted.'),
  text,
  bytes,
  page,
  image,
  files: z
    .array(z.strictObject({ path: z.string(), bytes: z.int().min(0) }))
    .optional()
    .describe('Its files, for resource.'),
  hasMore: z.boolean().optional().describe('There are more files than are named.'),
})

/** What loading a skill returns. */
export type LoadedSkill = z.infer<typeof loadedSkill>
