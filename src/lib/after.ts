import type { Awaitable } from '../core/store.ts'

/** Continues with a value immediately when it is there, else when it comes: what need not wait costs nothing. */
export function after<T, R>(value: Awaitable<T>, go: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(go) : go(value)
}
