import { APPROVAL, answerStored, listPending, QUESTION, type StoredRequest } from '../../approvals/index.ts'
import { type ApprovalReply, type QuestionReply, type Store, systemClock } from '../../core/index.ts'
import { openDataStore } from './open-data-store.ts'
import { readCliConfig } from './read-config.ts'

/** The approvals and questions of all processes that share the data folder. */
export interface StoredApprovals {
  /** What waits, oldest first. */
  list(): Promise<StoredRequest[]>
  find: Store['approvals']['find']
  /** Answers a call: false if it is no longer waiting, `undefined` if there is none with this id. */
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
  try {
    return await use({
      list: () => listPending(store, clock),
      find: (id) => store.approvals.find(id),
      answer: (id, reply) => answerStored({ store, clock, kind: APPROVAL }, id, reply),
      answerQuestion: (id, reply, answerer) => answerStored({ store, clock, kind: QUESTION }, id, reply, answerer),
    })
  } finally {
    await store.close()
  }
}
