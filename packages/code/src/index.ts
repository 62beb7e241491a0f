import { defineFeature, lazyModule, ToolError } from '@tool-hub/core'
import type { CodeHandle, CodeOptions, CodeService, SavedScriptStore, ScriptStore } from './types.ts'

declare module '@tool-hub/core/feature' {
  interface FeatureHandles {
    /** Runs scripts that call tools. */
    readonly code: CodeHandle
  }
  interface FeatureServices {
    /** Scripts that call tools; loaded on first use. */
    readonly code: CodeService
  }
  interface FeatureOptions {
    /** Scripts that call tools; docs/reference/code.md. */
    readonly code?: CodeOptions
  }
  interface FeatureStores {
    /** Scripts that were suspended. */
    readonly scripts: ScriptStore
    /** Scripts that the owner saved as tools. */
    readonly savedScripts: SavedScriptStore
  }
}

const load = lazyModule(() => import('./create-code.ts'))
const loadSavedTool = lazyModule(() => import('./saved-script-tool.ts'))

/** The feature `code`: scripts of a model that call tools. */
export const code = defineFeature({
  name: 'code',
  capability: 'code',
  create: async (options, host) => (await load()).createCode(options, host),
  methods: ['run', 'list', 'find', 'declarations', 'save', 'saved', 'removeSaved', 'followSaved'],
  adjustTools: ({ enabled = true }) => ({
    off: {
      tools: enabled ? [] : ['core/code.run', 'core/code.wait', 'core/code.cancel'],
      why: () =>
        new ToolError('TOOL_DISABLED', 'The owner has turned off scripts.', {
          fix: { key: 'code.enabled', hint: 'Call the tools directly.' },
        }),
    },
  }),
  storedTools: {
    prefixes: ['script/', 'script_'],
    async read({ enabled = true }, { savedScripts }) {
      const saved = enabled ? await savedScripts.list() : []
      return {
        version: saved.map(({ name, savedAt, sha256 }) => `${name} ${savedAt} ${sha256}`).join('\n'),
        tools: async () => saved.map((await loadSavedTool()).savedScriptTool),
      }
    },
  },
  inService: {
    start: { problem: 'Saved scripts of other processes cannot be followed', run: ({ code }) => code.followSaved() },
  },
  command: { name: 'code', summary: 'Run scripts that call tools' },
})

export type {
  CodeHandle,
  CodeOptions,
  CodeService,
  NewSavedScript,
  SavedScript,
  SavedScriptStore,
  ScriptCallEntry,
  ScriptDetail,
  ScriptEntry,
  ScriptFilter,
  ScriptFollower,
  ScriptRequest,
  ScriptResult,
  ScriptStore,
} from './types.ts'
