import { z } from 'zod'
import { type AnyTool, defineTool } from '../../define.ts'
import { shortPath } from '../../disk/short-path.ts'
import type { SkillShelf } from './skill-shelf.ts'

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

/** The tool that shows which skills there are, and no more of them. */
export function createListSkills(shelf: SkillShelf): AnyTool {
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
    targets: () => ({ 'read:fs': [...shelf.folders] }),
    timeoutMs: 15_000,
    overflow: 'head',
    category: 'read',
    tags: ['skill', 'list'],
    version: '1.0.0',
    examples: [{ input: {} }],
    dialects: { files: { name: 'list_skills' } },
    async execute(_, ctx) {
      await shelf.scan()
      const skills = shelf.list().map(({ name, description, folder }) => {
        return { id: name, name, description, location: shortPath(folder) }
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
