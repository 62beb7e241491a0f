export { createMemory } from './create-memory.ts'
