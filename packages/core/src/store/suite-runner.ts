import type { Awaitable } from '../lib/index.ts'
import type { Store } from '../store.ts'

/** The functions of a test runner that the suite needs, as Vitest and Jest have them. */
export interface SuiteRunner {
  /** Groups tests. */
  describe(name: string, body: () => void): void
  /** Defines a test. */
  it(name: string, test: () => Awaitable<void>): void
  /** Makes assertions. */
  readonly expect: SuiteExpect
}

/** The part of `expect` that the suite uses. */
export interface SuiteExpect {
  (
    actual: unknown,
  ): SuiteMatchers & {
    /** The opposite of a matcher. */
    readonly not: SuiteMatchers
    /** Expects a function to throw, or a promise to reject. */
    readonly rejects: { toMatchObject(expected: object): Promise<void> }
  }
  /** Equals every value of a type. */
  any(type: unknown): unknown
  /** Equals every string that contains the text. */
  stringContaining(text: string): unknown
}

/** The matchers that the suite uses. */
export interface SuiteMatchers {
  /** Is the same value. */
  toBe(expected: unknown): void
  /** Is not `undefined`. */
  toBeDefined(): void
  /** Is a larger number. */
  toBeGreaterThan(expected: number): void
  /** Is `undefined`. */
  toBeUndefined(): void
  /** Contains an element or a substring. */
  toContain(expected: unknown): void
  /** Is equal, recursively. */
  toEqual(expected: unknown): void
  /** Has this length. */
  toHaveLength(expected: number): void
  /** Has this property. */
  toHaveProperty(name: string): void
  /** Has these properties, recursively. */
  toMatchObject(expected: object): void
}

/** What each part of the suite gets. */
export interface StoreTests extends SuiteRunner {
  /** What the store is called in the names of the tests. */
  readonly name: string
  /** The store of the test that runs. */
  readonly store: () => Store
}
