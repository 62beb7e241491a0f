import { defineFeatureRoute, type FeatureRoute, type FeatureRoutes, type RouteCaller, ToolError } from '@tool-hub/core'
import {
  newSavedScript,
  savedScriptList,
  savedScriptSchema,
  scriptDetailSchema,
  scriptEntrySchema,
  scriptList,
  scriptQuery,
} from './schema.ts'

const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/scripts',
    client: 'scripts.list',
    summary: 'Scripts that were suspended at some time: your own, or with read those of all',
    allow: ['call', 'read'],
    query: scriptQuery,
    answers: [{ description: 'Scripts, newest first', schema: scriptList }],
    async handle({ hub, caller, query }) {
      const own = readsAll(caller) ? {} : { principal: caller.name }
      const scripts = await hub.code.list({ ...query, ...own })
      const next = scripts.length === query.limit ? scripts.at(-1)!.createdAt : undefined
      return { scripts, next }
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/scripts/{id}',
    client: { name: 'scripts.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'One script with its source, its calls and what it waits for: your own, or with read any',
    allow: ['call', 'read'],
    answers: [{ description: 'The script', schema: scriptDetailSchema }],
    async handle({ hub, caller, param }) {
      const script = await hub.code.find(param('id'))
      // Whether a script of somebody else exists is not said.
      if (script && (readsAll(caller) || script.principal === caller.name)) return script
      throw new ToolError('NOT_FOUND', 'Script not found.', {
        hint: 'Only scripts that waited for an approval are kept.',
      })
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/saved-scripts',
    client: 'scripts.saved',
    summary: 'Scripts that are saved as tools, with their sources',
    allow: ['read'],
    answers: [{ description: 'The scripts, sorted by name', schema: savedScriptList }],
    handle: async ({ hub }) => ({ scripts: await hub.code.saved() }),
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/saved-scripts',
    client: { name: 'scripts.save', note: 'Rejects with `CONFLICT` if there is one of that name.' },
    summary: 'Saves a script as the tool script/<name>',
    allow: ['admin'],
    body: newSavedScript,
    answers: [{ description: 'The script', schema: savedScriptSchema, status: 201 }],
    handle: ({ hub, caller, body }) => hub.code.save(body, { by: caller.name }),
  }),
  defineFeatureRoute({
    method: 'delete',
    path: '/v1/saved-scripts/{name}',
    client: 'scripts.removeSaved',
    summary: 'Removes a saved script and its tool; calls under way continue',
    allow: ['admin'],
    answers: [{ description: 'The script was removed', status: 204 }],
    async handle({ hub, caller, param }) {
      await hub.code.removeSaved(param('name'), { by: caller.name })
    },
  }),
]

/** The HTTP routes of scripts. */
export const codeRoutes: FeatureRoutes = {
  resources: { scripts: 'Scripts that call tools.' },
  schemas: { Script: scriptEntrySchema, ScriptDetail: scriptDetailSchema, SavedScript: savedScriptSchema },
  routes: ROUTES,
}

/** Who may read at all reads the scripts of all principals; others read their own. */
function readsAll({ scopes }: RouteCaller): boolean {
  return scopes.has('read')
}
