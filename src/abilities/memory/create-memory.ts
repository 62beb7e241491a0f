import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { MemoryDesk, MemoryHandle, MemoryOptions } from '../../contracts/memory.ts'
import type { Backend } from './backend.ts'
import { createEmbeddedBackend } from './embedded-backend.ts'
import { createHttpProvider } from './http-provider.ts'
import { createMcpProvider } from './mcp-provider.ts'
import { createDesk } from './memory-desk.ts'
import { createHandle } from './memory-handle.ts'
import { isHttp, isMcp, type MemorySettings, readSettings } from './memory-settings.ts'
import { createProviderBackend } from './provider-backend.ts'

/** What agents remember: notes in scopes, by the store of the hub or by a provider; written ones wait for review unless the owner says. */
export function createMemory(options: MemoryOptions, host: AbilityHost): Ability<MemoryHandle, MemoryDesk> {
  const settings = readSettings(options)
  const parts = { settings, host, backend: openBackend(settings, host) }
  return {
    handle: (call) => createHandle(parts, call),
    desk: createDesk(parts),
    async endRun(run) {
      await host.store.memory.removeScope(`run:${run}`)
    },
    async close() {},
  }
}

function openBackend(settings: MemorySettings, host: AbilityHost): Backend {
  const { provider, timeoutMs } = settings
  if (provider === 'embedded') return createEmbeddedBackend(settings, host)
  if (isHttp(provider)) return createProviderBackend(createHttpProvider(provider, host, { timeoutMs }), settings, host)
  return createProviderBackend(isMcp(provider) ? createMcpProvider(provider) : provider, settings, host)
}
