import { MEMORY_SCOPES, type MemoryScope } from '../../../../src/contracts/memory.ts'

/** Whom a note of a scope is for. */
export const SCOPE_WORDS: ReadonlyMap<MemoryScope, string> = new Map([
  ['run', 'this run only'],
  ['session', 'this session'],
  ['agent', 'this agent in all its runs'],
  ['shared', 'every agent'],
])

/** The same as options of a select. */
export const SCOPE_OPTIONS = MEMORY_SCOPES.map((scope) => [scope, `${scope}: ${SCOPE_WORDS.get(scope)}`] as const)
