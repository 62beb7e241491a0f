import type { Awaitable } from '../../store.ts'

/** Goes on with a value at once when it is there, later when it is promised: a hot token must not wait for a turn. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}
