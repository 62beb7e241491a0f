import type { Effect } from '../core/index.ts'

/** How strict an effect is: of several, the highest decides. */
export const STRICTNESS: Readonly<Record<Effect, number>> = { allow: 0, ask: 1, deny: 2 }
