export { skillRoots } from './skill-registry.ts'
export { createSkillSource } from './skill-source.ts'
