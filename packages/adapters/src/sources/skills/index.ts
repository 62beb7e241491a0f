export { skillRoots } from './skill-registry.ts'
export { createSkillSource, type SkillTool } from './skill-source.ts'
