import type { AnyTool, HubOptions } from '@tool-hub/core'
import { createKeepingFetchText, createWebSearch } from '@tool-hub/runtime/tools'

/** The core tools that the owner's options give another form, by name. */
export function coreForms({ core, web }: Pick<HubOptions, 'core' | 'web'>): Map<string, (tool: AnyTool) => AnyTool> {
  const forms = new Map<string, (tool: AnyTool) => AnyTool>()
  if (core?.enableAutoWriteLargeResponses) forms.set('core/http.fetchText', createKeepingFetchText)
  if (web?.search) forms.set('core/web.search', () => createWebSearch(web.search))
  return forms
}
