import type { Hub } from '../../hub/index.ts'

const MAX_MS = 30_000

/** Waits until every source has brought its tools or failed, but not for ever. */
export async function allReady(hub: Pick<Hub, 'ready'>, maxMs = MAX_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, maxMs)
  })
  await Promise.race([hub.ready({ all: true }), over]).finally(() => clearTimeout(timer))
}
