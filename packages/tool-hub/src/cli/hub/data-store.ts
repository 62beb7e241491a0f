import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  type ApprovalReply,
  type ApprovalRequest,
  type HubOptions,
  type QuestionReply,
  type Store,
  systemClock,
} from '@tool-hub/core'
import { openStoreOf } from '@tool-hub/library/stores'
import { APPROVAL, answerStored, listPending, QUESTION, type StoredRequest } from '@tool-hub/runtime/approvals'
import { readArtifactOf } from '@tool-hub/runtime/records/artifacts'
import { addProcessDirectory } from '@tool-hub/sandbox/system'
import { readCliConfig } from './config.ts'

/** The approvals and questions of all processes that share a data folder. */
export interface StoredApprovals {
  /** Pending requests, oldest first. */
  list(): Promise<StoredRequest[]>
  find: Store['approvals']['find']
  /** Reads the source of the script that makes a call; `undefined` if it is not there. */
  source(request: ApprovalRequest): Promise<string | undefined>
  /** Answers a call: false if it no longer waits, `undefined` if there is none with this id. */
  answer(id: string, reply: ApprovalReply): Promise<boolean | undefined>
  /** Answers a question; returns the same. */
  answerQuestion(
    id: string,
    reply: QuestionReply,
    answerer: { readonly by: string; readonly via: string },
  ): Promise<boolean | undefined>
}

/** Opens the pending approvals for as long as `use` works with them. */
export async function withApprovals<T>(
  flags: { readonly config?: string },
  use: (approvals: StoredApprovals) => Promise<T>,
): Promise<T> {
  const { options } = await readCliConfig(flags)
  const store = openDataStore(options)
  const clock = systemClock
  const alive = new Set<string>()
  // Of processes on other machines, only their heartbeats say whether they are alive.
  const forget = addProcessDirectory({ isProcessAlive: (process) => alive.has(process) })
  try {
    return await use({
      async list() {
        const pending = await listPending(store, clock)
        alive.clear()
        for (const { id, isAlive } of await store.processes.list()) if (isAlive) alive.add(id)
        return pending
      },
      find: (id) => store.approvals.find(id),
      source: (request) => readSource(options, request),
      answer: (id, reply) => answerStored({ store, clock, kind: APPROVAL }, id, reply),
      answerQuestion: (id, reply, answerer) => answerStored({ store, clock, kind: QUESTION }, id, reply, answerer),
    })
  } finally {
    forget()
    await store.close()
  }
}

async function readSource(
  { runs = 'runs' }: Pick<HubOptions, 'runs'>,
  { run, script }: ApprovalRequest,
): Promise<string | undefined> {
  if (runs === false || script?.source === undefined) return undefined
  // It is removed with its run; the output says that it is missing.
  const bytes = await readArtifactOf(resolve(runs), run, script.source).catch(() => undefined)
  return bytes && Buffer.from(bytes).toString('utf8')
}

/** The store of a config. Reading creates no file: without one, there are no grants and no approvals. */
export function openDataStore(options: Pick<HubOptions, 'data' | 'database'>): Store {
  const store = openStoreOf(options)
  if (options.database) return store
  const folder = resolve(options.data ?? '.tool-hub')
  const { grants, approvals: asks, processes } = store
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
    processes: { ...processes, list: () => (isThere() ? processes.list() : []) },
  }
}
