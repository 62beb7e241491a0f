/** Waits for all, then throws the first failure: nothing is still running when the caller cleans up. */
export async function allSettled<T extends readonly unknown[]>(
  work: readonly [...{ [K in keyof T]: Promise<T[K]> | T[K] }],
): Promise<T> {
  const results = await Promise.allSettled(work)
  const failed = results.find((result): result is PromiseRejectedResult => result.status === 'rejected')
  if (failed) throw failed.reason
  return results.map((result) => (result as PromiseFulfilledResult<unknown>).value) as unknown as T
}
