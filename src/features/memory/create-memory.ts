import type { Feature, FeatureHost } from '../../core/index.ts'
import { openCandidates } from './candidates.ts'
import { createHandle } from './memory-handle.ts'
import { createService } from './memory-service.ts'
import { isHttp, isMcp, type MemorySettings, readSettings } from './memory-settings.ts'
import { type Backend, createEmbeddedBackend, createProviderBackend } from './providers/backend.ts'
import { createHttpProvider, createMcpProvider } from './providers/remote-providers.ts'
import type { MemoryHandle, MemoryOptions, MemoryService } from './types.ts'

/** What agents remember: notes in scopes, in the store of the hub or at a provider. By default, new notes wait for review. */
export function createMemory(
  options: MemoryOptions,
  host: FeatureHost,
  candidates = host.archives && openCandidates(host.archives),
): Feature<MemoryHandle, MemoryService> {
  const settings = readSettings(options)
  const parts = { settings, host, backend: openBackend(settings, host), candidates }
  return {
    handle: (call) => createHandle(parts, call),
    service: createService(parts),
    async endRun(run) {
      await host.store.memory.removeScope(`run:${run}`)
    },
    async close() {},
  }
}

function openBackend(settings: MemorySettings, host: FeatureHost): Backend {
  const { provider, timeoutMs } = settings
  if (provider === 'embedded') return createEmbeddedBackend(settings, host)
  if (isHttp(provider)) return createProviderBackend(createHttpProvider(provider, host, { timeoutMs }), settings, host)
  return createProviderBackend(isMcp(provider) ? createMcpProvider(provider) : provider, settings, host)
}
