import { AskBoard } from '../../approval/ask-board.ts'
import { type ReadAsk, readRequest } from '../../approval/read-request.ts'
import { systemClock } from '../../clock.ts'
import { openDataStore } from './open-data-store.ts'
import { readConfig } from './read-config.ts'

/** What hubs of other processes ask, for as long as `use` works with it. */
export async function withAsks<T>(
  flags: { readonly config?: string },
  use: (board: AskBoard) => Promise<T>,
): Promise<T> {
  const { options } = await readConfig(flags)
  const store = openDataStore(options)
  try {
    return await use(new AskBoard(store, systemClock))
  } finally {
    await store.close()
  }
}

/** What waits, oldest first. */
export async function listAsks(board: AskBoard): Promise<ReadAsk[]> {
  return (await board.waiting()).map(readRequest).filter((read) => read !== undefined)
}
