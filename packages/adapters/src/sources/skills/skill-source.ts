import {
  type Content,
  type Context,
  defineTool,
  didYouMean,
  lazyModule,
  type SourceHost,
  ToolError,
  type ToolSource,
} from '@tool-hub/core'
import { escapeLine, shortPath, visibleText } from '@tool-hub/core/lib'
import { readFilePage, readResult } from '@tool-hub/runtime/tools'
import { z } from 'zod'
import type { SkillFacts } from './parse-skill.ts'
import { requestFor, type Skill, SkillRegistry } from './skill-registry.ts'

const loadParseSkill = lazyModule(() => import('./parse-skill.ts'))

const line = z.int().min(1).max(2_000_000_000)

const name = z.string().min(1).max(64).describe('The name of the skill, as the list has it.')

const part = {
  resource: z
    .string()
    .min(1)
    .max(1_024)
    .refine(isInside, 'must be a path inside the skill: references/guide.md')
    .optional()
    .describe('A file of the skill to read instead of its text: references/guide.md'),
  offset: line.optional().describe('The first line to read; lines are 1-based.'),
  limit: line.optional().describe('The most lines to read. Default: 2000.'),
}

const PAGE = { limit: 2_000, maxBytes: 51_200 }

const MAX_FILES = 200

const MAX_DEPTH = 5

/** A tool of skills. */
export type SkillTool = ReturnType<typeof createListSkills> | ReturnType<typeof createLoadSkill>

const output = z.strictObject({
  skills: z.array(
    z.strictObject({
      id: z.string().describe('What core/skill.load takes.'),
      name: z.string(),
      description: z.string(),
      location: z.string().describe('Its folder, in short.'),
    }),
  ),
})

/**
 * Offers skills in the public Agent Skills format: folders with a SKILL.md. A model sees their names and descriptions
 * with `core/skill.list`, and the text of one and its files with `core/skill.load`. `allowed-tools` of a skill is a
 * request that approvers see; its scripts run only with `core/exec.run`, like every command. The tools read through
 * the file guard: the sandbox needs `skillRoots(folders)`, which `createToolHub({ skills })` adds.
 */
export function createSkillSource(folders: readonly string[]): ToolSource {
  return {
    name: 'skills',
    async start(host) {
      const registry = new SkillRegistry(folders, host)
      const tools = [createListSkills(registry), createLoadSkill(registry, host)]
      const offering = registry.scan().then(() => host.offer(tools))
      for (const prefix of ['core/skill.', 'core_skill_', 'list_skills', 'load_skill', 'skill'])
        host.expect(prefix, offering)
      for (const { name, why } of await offering) host.warn(escapeLine(`The tool ${name} is left out: ${why}`))
    },
  }
}

/** The tool that lists the skills. */
function createListSkills(registry: SkillRegistry) {
  return defineTool({
    name: 'core/skill.list',
    kind: 'skill',
    title: 'List the skills',
    description:
      'List the skills: instructions for particular kinds of work, with a description of when each helps. Look here ' +
      'before such work, then load the one that fits. Not for tools or files.',
    input: z.strictObject({}),
    output,
    capabilities: ['read:fs'],
    targets: () => ({ 'read:fs': [...registry.folders] }),
    timeoutMs: 15_000,
    overflow: 'head',
    category: 'read',
    tags: ['skill', 'list'],
    version: '1.0.0',
    examples: [{ input: {} }],
    dialects: { files: { name: 'list_skills' } },
    async execute(_, ctx) {
      await registry.scan()
      const found = registry.list()
      const readable = await Promise.all(found.map((skill) => maySee(skill, ctx)))
      const skills = found.flatMap(({ name, description, folder }, at) => {
        return readable[at] ? [{ id: name, name, description, location: shortPath(folder) }] : []
      })
      ctx.evidence({ type: 'text', ref: 'skills', summary: `${skills.length} skills` })
      return { skills }
    },
    toModel: ({ skills }) => {
      if (skills.length === 0) return 'There are no skills.'
      return skills.map(({ name, description }) => `- ${name}: ${description}`).join('\n')
    },
  })
}

/** The tool that returns the text of a skill and the list of its files, or one of these files. */
function createLoadSkill(registry: SkillRegistry, host: Pick<SourceHost, 'request'>) {
  const description =
    'Load a skill by its name: its instructions, and which files it has. With resource, read one of these files (text, or ' +
    'an image). Its scripts are run with core/exec.run. Use it when the description of the skill fits the work, once.'
  return defineTool({
    name: 'core/skill.load',
    kind: 'skill',
    title: 'Load a skill',
    description,
    input: z.strictObject({ name, ...part }),
    output: loadedSkill,
    capabilities: ['read:fs'],
    targets: (input) => ({ 'read:fs': pathsOf(registry.get(input.name), input.resource) }),
    timeoutMs: 30_000,
    maxOutputChars: 80_000,
    overflow: 'head',
    category: 'read',
    tags: ['skill', 'read'],
    version: '1.0.0',
    examples: [
      { input: { name: 'pdf-forms' } },
      { input: { name: 'pdf-forms', resource: 'references/fields.md' }, note: 'a file that it names' },
    ],
    dialects: {
      coding: { name: 'skill' },
      files: {
        name: 'load_skill',
        input: z.strictObject({ skill_id: name, ...part }),
        toInput: ({ skill_id, ...rest }) => ({ name: skill_id, ...rest }),
      },
    },
    async execute({ name, resource, offset, limit = PAGE.limit }, ctx) {
      const skill = await find(registry, name)
      const facts = await readFacts(skill, ctx)
      requestFor(facts, ctx.run, host)
      const isBody = resource === undefined
      const path = isBody ? skill.file : `${skill.folder}/${resource}`
      const from = offset ?? (isBody ? facts.bodyLine : 1)
      const found = await readFilePage(path, { ...PAGE, offset: from, limit, images: !isBody }, ctx)
      const { text, hidden } = visibleText(found.text)
      if (hidden > 0) ctx.notice(`${hidden} invisible characters in ${path} were left out.`)
      const { bytes, page, image } = found
      const read = { text, bytes, ...(page && { page }), ...(image && { image }) }
      if (!isBody) return { name, folder: skill.folder, resource, ...read }
      return { name, folder: skill.folder, ...aboutSkill(facts), ...read, ...(await filesOf(skill, ctx)) }
    },
    toModel: showSkill,
  })
}

/** Also finds a skill that was added since the last scan; reading it is decided by policy when it is read. */
async function find(registry: SkillRegistry, name: string): Promise<Skill> {
  if (!registry.get(name)) await registry.scan()
  const skill = registry.get(name)
  if (skill) return skill
  const names = registry.list().map((each) => each.name)
  throw new ToolError('NOT_FOUND', `Skill ${JSON.stringify(name)} not found; there are ${names.length}.`, {
    fix: { hint: didYouMean(name, names) || 'List the skills to see their names.' },
  })
}

/** Whether a call may read a skill, whose description then counts as content of its file. */
async function maySee({ file }: Skill, ctx: Context<'read:fs'>): Promise<boolean> {
  try {
    await ctx.fs.stat(file)
    return true
  } catch (error) {
    if (ToolError.is(error) && error.code !== 'ABORTED') return false
    throw error
  }
}

/** The current frontmatter, read through the guard like everything that a call reads. */
async function readFacts({ file }: Skill, ctx: Context<'read:fs'>): Promise<SkillFacts> {
  const { parseSkill, HEAD_BYTES } = await loadParseSkill()
  const { content } = await ctx.fs.readBytes(file, { maxBytes: HEAD_BYTES })
  return parseSkill(Buffer.from(content).toString('utf8'), file)
}

function aboutSkill({ description, license, compatibility, wants }: SkillFacts) {
  return {
    description,
    ...(license !== undefined && { license }),
    ...(compatibility !== undefined && { compatibility }),
    ...(wants.length > 0 && { requests: [...wants] }),
  }
}

async function filesOf({ folder }: Skill, ctx: Context<'read:fs'>): Promise<Pick<LoadedSkill, 'files' | 'hasMore'>> {
  const listing = await ctx.fs.list(folder, { recursive: true, maxDepth: MAX_DEPTH, maxEntries: MAX_FILES })
  const files = listing.entries.filter(({ type, name }) => type === 'file' && name !== 'SKILL.md')
  return {
    files: files.map(({ name, size }) => ({ path: visibleText(name).text, bytes: size })),
    ...(!listing.isComplete && { hasMore: true }),
  }
}

/** Empty for an unknown skill: there is nothing to read. */
function pathsOf(skill: Skill | undefined, resource: string | undefined): string[] {
  if (!skill) return []
  return resource === undefined ? [skill.file, skill.folder] : [skill.file, `${skill.folder}/${resource}`]
}

function isInside(path: string): boolean {
  return !path.startsWith('/') && !path.split('/').includes('..')
}

const { text, bytes, page, image } = readResult.shape

/** Result of loading a skill: its text and files, or one of the files. */
const loadedSkill = z.strictObject({
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
type LoadedSkill = z.infer<typeof loadedSkill>

/** What a model sees of a skill or of one of its files. */
function showSkill(loaded: LoadedSkill): Content {
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
