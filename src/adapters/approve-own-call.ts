import type { CallOptions } from '../core/index.ts'

/**
 * A yes that a person gave elsewhere, for one call: it answers what policy asks about that very call. What calls inside
 * of it ask was never shown to anybody, so it is left to the hub.
 */
export function approveOwnCall(
  by: string,
  tell?: CallOptions['onEvent'],
): Required<Pick<CallOptions, 'approve' | 'onEvent'>> {
  let own: string | undefined
  return {
    // Only the call's own events come here, and this one comes before its question.
    onEvent: (event) => {
      if (event.type === 'approval-requested') own = event.request.id
      tell?.(event)
    },
    approve: ({ id }) => (id === own ? { decision: 'allow', by } : undefined),
  }
}
