import type { ServiceRequests } from '../../protocol/index.ts'
import type { ScriptList } from './schema.ts'
import type { NewSavedScript, SavedScript, ScriptDetail, ScriptEntry } from './types.ts'

/** The client methods for scripts. */
export function codeClient(http: ServiceRequests) {
  return {
    /** Scripts that call tools. */
    scripts: {
      /** Those that were suspended at some time, newest first: the caller's own, or with the scope `read` those of all. */
      list: (filter: { run?: string; status?: ScriptEntry['status']; before?: number; limit?: number } = {}) =>
        http.json<ScriptList>('GET', '/v1/scripts', { query: filter }),
      /** One of them with its source, its calls and what it waits for; rejects with `NOT_FOUND` if there is none. */
      get: (id: string) => http.json<ScriptDetail>('GET', http.path('/v1/scripts', id)),
      /** Scripts that are saved as tools, sorted by name. */
      saved: () => http.json<{ scripts: readonly SavedScript[] }>('GET', '/v1/saved-scripts'),
      /** Saves a script as the tool `script/<name>`; rejects with `CONFLICT` if there is one. */
      save: (script: NewSavedScript) => http.json<SavedScript>('POST', '/v1/saved-scripts', { body: script }),
      /** Removes a saved script and its tool. */
      removeSaved: (name: string) => http.json<void>('DELETE', http.path('/v1/saved-scripts', name)),
    },
  }
}
