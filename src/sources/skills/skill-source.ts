import type { ToolSource } from '../../source.ts'
import { escapeLine } from '../../value/escape-text.ts'
import { createListSkills } from './list-skills.ts'
import { createLoadSkill } from './load-skill.ts'
import { SkillShelf } from './skill-shelf.ts'

/**
 * Skills in the public Agent Skills form: folders with a SKILL.md. A model sees their names and descriptions by
 * `core/skill.list`, the text of one and its files by `core/skill.load`. What a skill says of `allowed-tools` is a wish that
 * approvers are shown; its scripts run by `core/exec.run` only, like every command. The tools read through the file guard:
 * the sandbox needs `skillRoots(folders)`, which `createToolHub({ skills })` adds.
 */
export function createSkillSource(folders: readonly string[]): ToolSource {
  return {
    name: 'skills',
    async start(host) {
      const shelf = new SkillShelf(folders, host)
      const tools = [createListSkills(shelf), createLoadSkill(shelf, host)]
      const offering = shelf.scan().then(() => host.offer(tools))
      for (const prefix of ['core/skill.', 'core_skill_', 'list_skills', 'load_skill', 'skill'])
        host.expect(prefix, offering)
      for (const { name, why } of await offering) host.warn(escapeLine(`The tool ${name} is left out: ${why}`))
    },
  }
}
