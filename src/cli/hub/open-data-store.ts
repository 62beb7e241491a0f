import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { HubOptions, Store } from '../../core/index.ts'
import { openStore } from '../../store/index.ts'

/** The store of the data folder. Only looking makes no file: where there is none, nothing was granted or asked. */
export function openDataStore({ data = '.tool-hub' }: Pick<HubOptions, 'data'>): Store {
  const folder = resolve(data)
  const store = openStore(folder)
  const { grants, approvals: asks } = store
  const isThere = () => existsSync(join(folder, 'store.db'))
  return {
    ...store,
    grants: {
      ...grants,
      list: (filter) => (isThere() ? grants.list(filter) : []),
      remove: (id) => isThere() && grants.remove(id),
    },
    approvals: {
      ...asks,
      list: (filter) => (isThere() ? asks.list(filter) : []),
      find: (id) => (isThere() ? asks.find(id) : undefined),
    },
  }
}
