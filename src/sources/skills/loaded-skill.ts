import { z } from 'zod'
import type { Content } from '../../core/index.ts'
import { readResult } from '../../tools/index.ts'

const { text, bytes, page, image } = readResult.shape

/** Result of loading a skill: its text and files, or one of the files. */
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

/** A loaded skill, or one of its files. */
export type LoadedSkill = z.infer<typeof loadedSkill>

/** What a model sees of a skill or of one of its files. */
export function showSkill(loaded: LoadedSkill): Content {
  const { name, folder, resource, text, bytes, image } = loaded
  if (image) {
    const { mediaType, width, height, data } = image
    return [
      { type: 'text', text: `${name}/${resource}: ${mediaType}, ${width} x ${height} pixels, ${bytes} bytes` },
      { type: 'image', data, mediaType },
    ]
  }
  const notes = pageNotes(loaded)
  if (resource !== undefined) return withNotes(text, notes)
  const head = `Skill ${name}, in the folder ${folder} (paths in it are relative to that folder).`
  return withNotes(`${head}\n\n${text}`, [...notes, ...fileNotes(loaded), ...requestNotes(loaded)])
}

function pageNotes({ page, folder, resource = 'SKILL.md' }: LoadedSkill): string[] {
  if (!page) return []
  const { from, to, totalLines, next, tooLong } = page
  if (from > totalLines) return [`The file has ${totalLines} lines; there is nothing from line ${from} on.`]
  if (tooLong) {
    const rest = `Read it by its path ${folder}/${resource}, or use offset=${tooLong.line + 1} to read on after it.`
    return [`Line ${tooLong.line} has ${tooLong.bytes} bytes, too many for one page. ${rest}`]
  }
  return next === undefined ? [] : [`Showing lines ${from}-${to} of ${totalLines}. Use offset=${next} to read on.`]
}

function fileNotes({ files = [], hasMore }: LoadedSkill): string[] {
  if (files.length === 0) return []
  const names = files.map(({ path, bytes }) => `${path} (${bytes} bytes)`).join(', ')
  const more = hasMore ? ' and more' : ''
  const isRun = files.some(({ path }) => path.startsWith('scripts/'))
  const scripts = isRun ? ' Run scripts with core/exec.run, which is judged like every command.' : ''
  return [`Its files, each to be read with resource: ${names}${more}.${scripts}`]
}

function requestNotes({ requests = [] }: LoadedSkill): string[] {
  if (requests.length === 0) return []
  return [`It asks for ${requests.join(', ')}; whether you get that is decided call by call.`]
}

function withNotes(text: string, notes: readonly string[]): string {
  return notes.length === 0 ? text : `${text.trimEnd()}\n\n[${notes.join('\n')}]`
}
