import type { Ability, AbilityHost } from '../../contracts/ability.ts'
import type { SessionDesk, SessionHandle, SessionsOptions } from '../../contracts/sessions.ts'
import { newOwner, retireOwner } from '../../disk/process-owner.ts'
import { checkSessionsOptions } from './check-options.ts'
import { LiveSessions } from './live-sessions.ts'
import { PostOffice } from './post-office.ts'
import { SessionBook } from './session-book.ts'
import { createSessionDesk } from './session-desk.ts'
import { createSessionHandle } from './session-handle.ts'
import { Wakes } from './wakes.ts'

/** Sessions: agents that see, write to and begin each other, each known by its run. */
export async function createSessions(
  options: SessionsOptions,
  host: AbilityHost,
): Promise<Ability<SessionHandle, SessionDesk>> {
  checkSessionsOptions(options)
  const owner = newOwner()
  const wakes = new Wakes(host)
  const book = new SessionBook({ host, wakes, owner, visibility: options.visibility ?? 'tree' })
  const post = new PostOffice(host, wakes, book)
  const live = new LiveSessions({ options, host, wakes, book, post, owner })
  const parts = { options, host, wakes, book, post, live }
  await book.endOrphans()
  return {
    handle: (call) => createSessionHandle(parts, call),
    desk: createSessionDesk(parts),
    endRun: (run) => live.endRun(run),
    calm() {
      live.calm()
      wakes.close()
    },
    async close() {
      await live.close()
      wakes.close()
      await book.leave()
      retireOwner(owner)
    },
  }
}
