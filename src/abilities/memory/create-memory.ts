import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { MemoryDesk, MemoryHandle, MemoryOptions } from '../../contracts/memory.ts'

/** The whole ability, to come. */
export function createMemory(_options: MemoryOptions, _host: AbilityHost): Ability<MemoryHandle, MemoryDesk> {
  return { handle: () => ({}), desk: {}, async close() {} }
}
