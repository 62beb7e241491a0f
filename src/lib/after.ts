/** Continues with a value immediately when it is there, else when it comes: what need not wait costs nothing. */
export function after<T, R>(value: T | Promise<T>, go: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(go) : go(value)
}
