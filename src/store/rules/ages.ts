/** How long processes can hear of an event. */
export const EVENT_AGE_MS = 3_600_000

/** How long it is known what became of an ask. */
export const ASK_AGE_MS = 30 * 86_400_000
