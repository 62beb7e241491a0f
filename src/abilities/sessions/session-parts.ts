import type { AbilityHost } from '../../contracts/ability.ts'
import type { SessionsOptions } from '../../contracts/sessions.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { PostOffice } from './post-office.ts'
import type { SessionBook } from './session-book.ts'
import type { Wakes } from './wakes.ts'

/** What the sessions of a hub are made of. */
export interface SessionParts {
  readonly options: SessionsOptions
  readonly host: AbilityHost
  readonly wakes: Wakes
  readonly book: SessionBook
  readonly post: PostOffice
  readonly live: LiveSessions
}
