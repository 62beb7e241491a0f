import { type FakeClock, fakeClock } from '../../packages/testing/src/fake-clock.ts'

/** A clock that stands still and counts how many timers were set that would keep the process alive. */
export interface HoldingClock extends FakeClock {
  readonly holding: number
}

/** Makes one. */
export function holdingClock(): HoldingClock {
  const clock = fakeClock()
  let holding = 0
  return {
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    after(ms, callback, options) {
      if (options?.background !== true) holding += 1
      return clock.after(ms, callback, options)
    },
    get waiting() {
      return clock.waiting
    },
    get holding() {
      return holding
    },
  }
}
