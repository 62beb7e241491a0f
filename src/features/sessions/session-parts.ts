import type { FeatureHost } from '../../core/index.ts'
import type { LiveSessions } from './live-sessions.ts'
import type { PostOffice } from './post-office.ts'
import type { SessionRegistry } from './session-registry.ts'
import type { SessionsOptions } from './types.ts'
import type { Wakes } from './wakes.ts'

/** What the sessions of a hub are made of. */
export interface SessionParts {
  readonly options: SessionsOptions
  readonly host: FeatureHost
  readonly wakes: Wakes
  readonly book: SessionRegistry
  readonly post: PostOffice
  readonly live: LiveSessions
}
