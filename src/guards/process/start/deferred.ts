/** A promise that is resolved from outside. */
export class Deferred<Value> {
  readonly promise: Promise<Value>
  resolve!: (value: Value | Promise<Value>) => void

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve
    })
  }
}
