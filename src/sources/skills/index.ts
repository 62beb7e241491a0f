export { skillRoots } from './skill-roots.ts'
export { createSkillSource } from './skill-source.ts'
